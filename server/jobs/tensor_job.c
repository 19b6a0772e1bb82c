#include "server/jobs/tensor_job.h"

#include "proto/answer/safetensors_write.h"
#include "proto/json/tensor.h"
#include "server/base/clock.h"
#include "server/config/value.h"
#include "server/jobs/job.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { DESCRIPTION_MAX = 2048, SLACK_BYTES = 64 * 1024 };

enum error_code tensor_ttl_parse(uint64_t *ns, const char *text, uint64_t most, struct error *error)
{
    if (config_time_parse(text, ns) && *ns > 0 && *ns <= most)
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "ttl is '%.40s', expected is a time such as 600s or 1h, more than 0 and at "
                     "most %llu s (setting tensor_ttl_max)",
                     text, (unsigned long long)(most / SEC));
}

static bool has_body(enum verb verb)
{
    return verb == VERB_PUT || verb == VERB_ASSIGN;
}

static bool writes(enum verb verb)
{
    return verb != VERB_READ;
}

/* --------------------------------------------------------------------------------- the stages */

enum error_code tensor_job_decode(struct job *job, const struct work *work)
{
    struct tensor_call *call = &job->call;
    struct span inner = {job->body, job->body_size};
    enum error_code code = ERROR_NONE;
    const char *ttl;
    if (has_body(call->verb))
        code = tensor_read(&call->tensor, call->kind, &job->head, &job->rules, work, &inner,
                           &job->error);
    if (call->verb == VERB_PATCH) {
        code = tensor_patch_read(&ttl, job->body, job->body_size, work, &job->error);
        if (code == ERROR_NONE && ttl)
            code = tensor_ttl_parse(&call->ttl_ns, ttl, call->most_ttl_ns, &job->error);
    }
    job->request.text = inner.data;
    job->request.text_size = inner.size;
    return code;
}

enum error_code tensor_job_names(struct job *job)
{
    struct holds *holds = &job->holds;
    const struct tensor_call *call = &job->call;
    int place;
    if (holds_join(holds, call->name, writes(call->verb), &place, &job->error) != ERROR_NONE)
        return job->error.code;
    holds->about = place;
    holds->into = writes(call->verb) ? place : PLACE_NONE;
    holds->turn.is_use = call->verb == VERB_READ;
    if (call->verb == VERB_MOVE &&
        holds_join(holds, call->other, true, &holds->inputs[0], &job->error) != ERROR_NONE)
        return job->error.code;
    if (holds->into == PLACE_NONE)
        return ERROR_NONE;
    return holds_key(holds, "", job->request.text, job->request.text_size, &job->error);
}

static enum error_code check_rows(struct job *job, const struct resident *resident)
{
    struct tensor_call *call = &job->call;
    const struct tensor *t = &resident->tensor;
    if (!call->has_rows) {
        call->from = 0;
        call->to = t->rank > 0 ? t->shape[0] : 1;
        return ERROR_NONE;
    }
    if (t->rank > 0 && call->from >= 0 && call->from < call->to && call->to <= t->shape[0])
        return ERROR_NONE;
    return error_set(&job->error, ERROR_ROWS_OUT_OF_RANGE, NULL,
                     "rows %" PRId64 ":%" PRId64 " are not in the tensor '%s', which has %" PRId64
                     " rows",
                     call->from, call->to, call->name, t->rank > 0 ? t->shape[0] : 0);
}

static void rows_of(const struct tensor_call *call, const struct resident *resident,
                    struct tensor *rows)
{
    size_t row = resident->tensor.rank > 0 && resident->tensor.shape[0] > 0
                     ? resident->bytes / (size_t)resident->tensor.shape[0]
                     : 0;
    *rows = resident->tensor;
    rows->data = (char *)resident->tensor.data + row * (size_t)call->from;
    if (rows->rank > 0)
        rows->shape[0] = call->to - call->from;
}

static enum error_code check_assigned(struct job *job, const struct resident *resident)
{
    const struct tensor *given = &job->call.tensor;
    struct tensor rows;
    char found[SHAPE_TEXT_MAX], is[SHAPE_TEXT_MAX];
    rows_of(&job->call, resident, &rows);
    if (given->dtype != rows.dtype)
        return error_set(&job->error, ERROR_UNSUPPORTED_DTYPE, NULL,
                         "the rows are %s, but the tensor '%s' is %s", dtype_name(given->dtype),
                         job->call.name, dtype_name(rows.dtype));
    bool equal = given->rank == rows.rank;
    for (int i = 0; i < rows.rank && equal; i++)
        equal = given->shape[i] == rows.shape[i];
    if (equal)
        return ERROR_NONE;
    return error_set(&job->error, ERROR_SHAPE_MISMATCH, NULL,
                     "the rows have shape %s; rows %" PRId64 ":%" PRId64 " of the tensor '%s' have "
                     "%s",
                     shape_print(found, given->shape, given->rank), job->call.from, job->call.to,
                     job->call.name, shape_print(is, rows.shape, rows.rank));
}

static bool is_json(const struct job *job)
{
    return job->head.accepted == ENCODING_JSON;
}

static size_t read_bytes(const struct job *job, const struct resident *resident)
{
    struct tensor rows;
    size_t bytes;
    rows_of(&job->call, resident, &rows);
    return tensor_bytes(&rows, &bytes) ? bytes : SIZE_MAX;
}

static enum error_code check_read(struct job *job, const struct resident *resident)
{
    struct tensor rows;
    rows_of(&job->call, resident, &rows);
    size_t bytes = read_bytes(job, resident);
    if (is_json(job)
            ? dtype_from_v2(dtype_name(rows.dtype), strlen(dtype_name(rows.dtype))) != rows.dtype
            : job->head.accepted != ENCODING_BINARY && !dtype_safetensors_name(rows.dtype))
        return error_set(&job->error, ERROR_UNSUPPORTED_DTYPE, NULL,
                         "the tensor '%s' is %s, which the form asked for does not have; ask for "
                         "another by Accept",
                         job->call.name, dtype_name(rows.dtype));
    if (is_json(job))
        bytes = json_tensor_text_max(&rows);
    if (bytes <= job->rules.output_limit)
        return ERROR_NONE;
    return error_set(&job->error, ERROR_OUTPUT_TOO_LARGE, NULL,
                     "the elements take %zu bytes%s; the limit is %zu (setting max_output): ask "
                     "for some rows at a time, ?rows=0:1000",
                     bytes, is_json(job) ? " as JSON" : "", job->rules.output_limit);
}

/* A client that has the tensor is told so, which is no fault, but only where it could get what it
 * asks for (RFC 9110, 13.2). */
static enum error_code plan_read(struct job *job)
{
    struct holds *holds = &job->holds;
    struct conditions *conditions = &holds->setup.conditions;
    const struct conditions none_match = {.none_match = conditions->none_match};
    const struct resident *resident = turn_resident(&holds->turn, holds->about);
    conditions->none_match = NULL;
    if (holds_check(holds, &job->error) != ERROR_NONE ||
        holds_find(holds, holds->about, &resident, &job->error) != ERROR_NONE)
        return job->error.code;
    resident_etag(resident, holds->etag);
    job->is_unchanged = !conditions_hold(&none_match, holds->etag);
    return check_rows(job, resident) != ERROR_NONE ? job->error.code : check_read(job, resident);
}

enum error_code tensor_job_plan(struct job *job)
{
    struct holds *holds = &job->holds;
    const struct tensor_call *call = &job->call;
    const struct resident *resident = turn_resident(&holds->turn, holds->about);
    bool must_exist = call->verb != VERB_PUT && call->verb != VERB_MOVE;
    if (call->verb == VERB_READ)
        return plan_read(job);
    /* A condition about a resident that does not exist is false (412) before the resident is
     * missing (404). */
    bool is_conditional = holds->setup.conditions.match && !resident;
    if (must_exist && !is_conditional &&
        holds_find(holds, holds->about, &resident, &job->error) != ERROR_NONE)
        return job->error.code;
    if (holds_check(holds, &job->error) != ERROR_NONE)
        return job->error.code;
    if (call->verb == VERB_MOVE) {
        if (holds->inputs[0] == holds->about)
            return error_set(&job->error, ERROR_INVALID_PARAMETER, NULL,
                             "move is '%s', the tensor itself", call->other);
        return holds_find(holds, holds->inputs[0], &resident, &job->error);
    }
    if (call->verb != VERB_ASSIGN)
        return ERROR_NONE;
    resident_etag(resident, holds->etag);
    return check_rows(job, resident) != ERROR_NONE ? job->error.code
                                                   : check_assigned(job, resident);
}

size_t tensor_job_weight(const struct job *job)
{
    const struct resident *resident = turn_resident(&job->holds.turn, job->holds.about);
    size_t bytes = 0;
    switch (job->call.verb) {
    case VERB_READ:
        if (!job->is_unchanged || is_json(job))
            bytes = read_bytes(job, resident);
        return is_json(job) && bytes < SIZE_MAX / 8 ? 8 * bytes : bytes;
    case VERB_PUT:
    case VERB_ASSIGN:
        return tensor_bytes(&job->call.tensor, &bytes) ? bytes : SIZE_MAX;
    case VERB_MOVE:
    case VERB_PATCH:
    case VERB_DROP:
        break;
    }
    return 0;
}

/* ----------------------------------------------------------------------------------- writing */

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

static enum error_code move(struct job *job, int *status)
{
    struct holds *holds = &job->holds;
    *status = turn_resident(&holds->turn, holds->into) ? 200 : 201;
    if (store_move(holds->setup.store, &holds->turn, holds->inputs[0], holds->into,
                   &holds->setup.position, clock_ns()))
        return ERROR_NONE;
    return error_set(&job->error, ERROR_RESOURCE_EXHAUSTED, NULL,
                     "no room for the positions of both tensors");
}

static enum error_code assign(struct job *job)
{
    struct holds *holds = &job->holds;
    struct tensor rows;
    size_t bytes = tensor_job_weight(job);
    if (holds_prepare(holds, &job->error) != ERROR_NONE)
        return job->error.code;
    rows_of(&job->call, turn_resident(&holds->turn, holds->into), &rows);
    if (job->call.tensor.data)
        memcpy(rows.data, job->call.tensor.data, bytes);
    else
        memset(rows.data, 0, bytes);
    store_wrote(holds->setup.store, &holds->turn, holds->into, &holds->setup.position, clock_ns());
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
        return move(job, status);
    case VERB_ASSIGN:
        return assign(job);
    case VERB_PATCH:
        store_lease(holds->setup.store, &holds->turn, holds->into, job->call.ttl_ns, clock_ns());
        break;
    case VERB_DROP:
        *status = 204;
        store_drop(holds->setup.store, &holds->turn, holds->into);
        break;
    case VERB_READ:
        break;
    }
    return ERROR_NONE;
}

static enum error_code no_memory(struct job *job, size_t bytes)
{
    return error_set(&job->error, ERROR_RESOURCE_EXHAUSTED, NULL,
                     "there is no memory for an answer of %zu bytes", bytes);
}

/* Describes the tensor as it is now, in memory that the job has. */
static void describe_now(struct job *job, char *answer)
{
    struct holds *holds = &job->holds;
    struct resident_view view;
    struct text text;
    text_init(&text, answer, DESCRIPTION_MAX);
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
    char *answer = arena_get(&job->arena, DESCRIPTION_MAX);
    if (!answer)
        return no_memory(job, DESCRIPTION_MAX);
    describe_now(job, answer);
    return ERROR_NONE;
}

/* Memory for the answer, the key and the positions is there before the write. */
static enum error_code run_write(struct job *job)
{
    struct holds *holds = &job->holds;
    char *answer = arena_get(&job->arena, DESCRIPTION_MAX);
    if (!answer)
        return no_memory(job, DESCRIPTION_MAX);
    if (write_it(job, &job->status) != ERROR_NONE)
        return job->error.code;
    holds_advance(holds);
    describe_now(job, answer);
    holds_keep(holds, job->status, answer, job->response.size);
    holds_release(holds);
    return ERROR_NONE;
}

/* ----------------------------------------------------------------------------------- reading */

static enum error_code encode_json(struct job *job, const struct tensor *t, const struct work *work)
{
    size_t room = json_tensor_text_max(t) + DESCRIPTION_MAX, size;
    char *out = arena_get(&job->arena, room);
    struct text text;
    if (!out)
        return no_memory(job, room);
    text_init(&text, out, DESCRIPTION_MAX);
    text_printf(&text, "{\"datatype\":\"%s\",\"shape\":", dtype_name(t->dtype));
    text_shape(&text, t);
    text_puts(&text, ",\"data\":");
    enum error_code code =
        json_tensor_print(t, NONFINITE_ERROR, out + text.size, &size, work, &job->error);
    if (code != ERROR_NONE)
        return code;
    memcpy(out + text.size + size, "}\n", 2);
    job->response = (struct response){.data = out,
                                      .size = text.size + size + 2,
                                      .header_length = -1,
                                      .content_type = "application/json"};
    return ERROR_NONE;
}

/* Writes the head that stands in front of the elements. */
static void put_data_head(const struct job *job, const struct tensor *rows, size_t bytes,
                          struct text *text)
{
    if (job->head.accepted != ENCODING_BINARY)
        safetensors_write_head(text, job->call.name, rows, bytes, "");
}

/* Leaves the line once the elements are copied: neither a slow client nor printing holds it. */
static enum error_code run_read(struct job *job, const struct work *work)
{
    struct holds *holds = &job->holds;
    const struct resident *resident = turn_resident(&holds->turn, holds->about);
    size_t bytes = read_bytes(job, resident);
    struct tensor rows;
    struct text text;
    char head[ANSWER_HEAD_ROOM];
    char *memory =
        bytes <= SIZE_MAX - sizeof head ? arena_get(&job->arena, bytes + sizeof head) : NULL;
    if (!memory)
        return no_memory(job, bytes);
    rows_of(&job->call, resident, &rows);
    char *elements = memory + sizeof head;
    memcpy(elements, rows.data, bytes);
    rows.data = elements;
    holds_release(holds);
    if (is_json(job))
        return encode_json(job, &rows, work);
    text_init(&text, head, sizeof head);
    put_data_head(job, &rows, bytes, &text);
    memcpy(elements - text.size, text.data, text.size);
    job->response = (struct response){.data = elements - text.size,
                                      .size = text.size + bytes,
                                      .header_length = -1,
                                      .content_type = job->head.accepted == ENCODING_BINARY
                                                          ? "application/octet-stream"
                                                          : job->head.safetensors_type};
    return ERROR_NONE;
}

/* Answers a client that has the tensor with the size of the full answer alone. The size of a text
 * is known only by printing it. */
static enum error_code run_unchanged(struct job *job, const struct work *work)
{
    struct holds *holds = &job->holds;
    struct tensor rows;
    struct text text;
    char head[ANSWER_HEAD_ROOM];
    size_t bytes = read_bytes(job, turn_resident(&holds->turn, holds->about));
    if (is_json(job) && run_read(job, work) != ERROR_NONE)
        return job->error.code;
    if (!is_json(job)) {
        rows_of(&job->call, turn_resident(&holds->turn, holds->about), &rows);
        holds_release(holds);
        text_init(&text, head, sizeof head);
        put_data_head(job, &rows, bytes, &text);
        job->response.size = text.size + bytes;
    }
    job->status = 304;
    job->response = (struct response){.size = job->response.size, .header_length = -1};
    return ERROR_NONE;
}

enum error_code tensor_job_run(struct job *job, const struct work *work)
{
    if (writes(job->call.verb))
        return run_write(job);
    return job->is_unchanged ? run_unchanged(job, work) : run_read(job, work);
}

/* -------------------------------------------------------------------------------- describing */

static void put_time(struct text *t, const char *name, uint64_t wall_ms)
{
    char when[CLOCK_TEXT_MAX];
    clock_print(when, wall_ms * MSEC);
    text_printf(t, ",\"%s\":\"%.19sZ\"", name, when);
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
