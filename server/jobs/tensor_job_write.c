/* Storing, moving, assigning to and dropping a resident tensor, and what is answered to that. */
#include "server/base/clock.h"
#include "server/jobs/file_job.h"
#include "server/jobs/job.h"
#include "server/jobs/tensor_job_parts.h"

#include <inttypes.h>
#include <string.h>

enum { SLACK_BYTES = 64 * 1024 };

static void put_time(struct text *t, const char *name, uint64_t wall_ms)
{
    struct clock_text when = {0};
    clock_print(&when, wall_ms * MSEC);
    text_printf(t, ",\"%s\":\"%.19sZ\"", name, when.text);
}

void tensor_job_describe(struct text *t, const struct resident_view *view)
{
    text_printf(t, "\"name\":\"%s\",\"datatype\":\"%s\",\"shape\":", view->name,
                dtype_name(view->tensor.dtype));
    text_shape(t, &view->tensor);
    text_printf(t, ",\"bytes\":%zu,\"version\":%" PRIu64 ",\"generation\":\"%016" PRIx64 "\"",
                view->bytes, view->version, view->generation);
    text_puts(t, ",\"etag\":");
    text_json(t, view->etag, strlen(view->etag));
    put_time(t, "created", view->created_ms);
    put_time(t, "used", view->used_ms);
    if (view->ttl_ns)
        put_time(t, "expires", clock_wall_ms() + view->left_ns / MSEC);
    else
        text_puts(t, ",\"expires\":null");
    if (view->saved_version)
        text_printf(t, ",\"snapshot_version\":%" PRIu64, view->saved_version);
    else
        text_puts(t, ",\"snapshot_version\":null");
    text_printf(t, ",\"read_only\":%s,\"device\":\"cpu\"", view->is_read_only ? "true" : "false");
}

/* The block that the body arrived in becomes the tensor's where little of it would be wasted; its
 * elements are moved to an aligned place in it. */
static bool keep_block(struct job *job, struct resident *made)
{
    char *data = job->call.tensor.data;
    struct block *block = data ? arena_find(&job->arena, data) : NULL;
    if (!block || block_cost(block) - made->bytes > made->bytes / 4 + SLACK_BYTES ||
        !arena_give(&job->arena, block, &job->holds.setup.store->budget))
        return false;
    char *aligned = data - (uintptr_t)data % TENSOR_ALIGNMENT;
    if (aligned != data)
        memmove(aligned, data, made->bytes);
    made->block = block;
    made->tensor.data = aligned;
    return true;
}

static enum error_code copy_block(struct job *job, struct resident *made)
{
    made->block = store_block(job->holds.setup.store, made->bytes, &job->error);
    if (!made->block)
        return job->error.code;
    made->tensor.data = made->block->bytes;
    if (job->call.tensor.data)
        memcpy(made->tensor.data, job->call.tensor.data, made->bytes);
    else
        memset(made->tensor.data, 0, made->bytes);
    return ERROR_NONE;
}

static enum error_code put(struct job *job, int *status)
{
    struct holds *holds = &job->holds;
    bool is_new = !turn_resident(&holds->turn, holds->into);
    holds->made = store_make(holds->setup.store, &holds->turn, holds->into, &job->call.tensor,
                             &holds->setup.holder, &job->error);
    if (!holds->made)
        return job->error.code;
    holds->made->tensor.data = NULL;
    if (!keep_block(job, holds->made) && copy_block(job, holds->made) != ERROR_NONE)
        return job->error.code;
    if (holds_prepare(holds, &job->error) != ERROR_NONE)
        return job->error.code;
    holds->made->ttl_ns = job->call.ttl_ns;
    holds_install(holds);
    *status = is_new ? 201 : 200;
    return ERROR_NONE;
}

static enum error_code assign(struct job *job)
{
    struct holds *holds = &job->holds;
    struct tensor rows;
    size_t bytes = tensor_job_weight(job);
    if (holds_prepare(holds, &job->error) != ERROR_NONE)
        return job->error.code;
    tensor_job_rows(&job->call, turn_resident(&holds->turn, holds->into), &rows);
    if (job->call.tensor.data)
        memcpy(rows.data, job->call.tensor.data, bytes);
    else
        memset(rows.data, 0, bytes);
    store_wrote(holds->setup.store, &holds->turn, holds->into, &holds->setup.position, clock_ns());
    return ERROR_NONE;
}

static enum error_code set_lease(struct job *job)
{
    struct holds *holds = &job->holds;
    if (holds_prepare(holds, &job->error) != ERROR_NONE)
        return job->error.code;
    store_lease(holds->setup.store, &holds->turn, holds->into, job->call.ttl_ns,
                &holds->setup.position, clock_ns());
    return ERROR_NONE;
}

static enum error_code write_it(struct job *job, int *status)
{
    struct holds *holds = &job->holds;
    *status = 200;
    switch (job->call.verb) {
    case VERB_PUT:
        return put(job, status);
    case VERB_MOVE:
        *status = turn_resident(&holds->turn, holds->into) ? 200 : 201;
        return file_job_move(job);
    case VERB_ASSIGN:
        return assign(job);
    case VERB_PATCH:
        return set_lease(job);
    case VERB_DROP:
        *status = 204;
        return file_job_drop(job);
    case VERB_EXPIRE:
        *status = 204;
        return file_job_expire(job);
    case VERB_READ:
    case VERB_LOOK:
    case VERB_SNAPSHOT:
        break;
    }
    return ERROR_NONE;
}

/* Describes the tensor as it is now, in memory that the job has. */
static void describe_now(struct job *job, char *answer)
{
    struct holds *holds = &job->holds;
    struct resident_view view;
    struct text text;
    text_init(&text, answer, TENSOR_DESCRIPTION_MAX);
    holds->etag[0] = '\0';
    if (store_look(holds->setup.store, job->call.name, clock_ns(), &view)) {
        strcpy(holds->etag, view.etag);
        text_puts(&text, "{");
        tensor_job_describe(&text, &view);
        text_puts(&text, "}\n");
    }
    job->response = (struct response){.data = answer,
                                      .size = text.size,
                                      .header_length = -1,
                                      .content_type = text.size ? "application/json" : NULL};
}

enum error_code tensor_job_answer(struct job *job)
{
    char *answer = arena_get(&job->arena, TENSOR_DESCRIPTION_MAX);
    if (!answer)
        return tensor_job_no_memory(job, TENSOR_DESCRIPTION_MAX);
    describe_now(job, answer);
    return ERROR_NONE;
}

/* Memory for the answer, the key and the positions is there before the write. */
enum error_code tensor_job_write(struct job *job)
{
    struct holds *holds = &job->holds;
    char *answer = arena_get(&job->arena, TENSOR_DESCRIPTION_MAX);
    if (!answer)
        return tensor_job_no_memory(job, TENSOR_DESCRIPTION_MAX);
    if (write_it(job, &job->status) != ERROR_NONE ||
        (!tensor_job_is_of_files(job) && holds_confirm(holds, &job->error) != ERROR_NONE))
        return job->error.code;
    holds_advance(holds);
    describe_now(job, answer);
    holds_keep(holds, job->status, answer, job->response.size);
    holds_release(holds);
    return ERROR_NONE;
}
