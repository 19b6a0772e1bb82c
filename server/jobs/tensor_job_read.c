/* Reading a resident tensor, and telling a client that it has it. */
#include "proto/answer/safetensors_write.h"
#include "proto/json/tensor.h"
#include "server/jobs/job.h"
#include "server/jobs/tensor_job_parts.h"

#include <string.h>

void tensor_job_rows(const struct tensor_call *call, const struct resident *resident,
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

bool tensor_job_is_json(const struct job *job)
{
    return job->head.accepted == ENCODING_JSON;
}

size_t tensor_job_read_bytes(const struct job *job, const struct resident *resident)
{
    struct tensor rows;
    size_t bytes;
    tensor_job_rows(&job->call, resident, &rows);
    return tensor_bytes(&rows, &bytes) ? bytes : SIZE_MAX;
}

static enum error_code check_read(struct job *job, const struct resident *resident)
{
    struct tensor rows;
    tensor_job_rows(&job->call, resident, &rows);
    size_t bytes = tensor_job_read_bytes(job, resident);
    if (tensor_job_is_json(job)
            ? dtype_from_v2(dtype_name(rows.dtype), strlen(dtype_name(rows.dtype))) != rows.dtype
            : job->head.accepted != ENCODING_BINARY && !dtype_safetensors_name(rows.dtype))
        return error_set(&job->error, ERROR_UNSUPPORTED_DTYPE, NULL,
                         "the tensor '%s' is %s, which the form asked for does not have; ask for "
                         "another by Accept",
                         job->call.name, dtype_name(rows.dtype));
    if (tensor_job_is_json(job))
        bytes = json_tensor_text_max(&rows);
    if (bytes <= job->rules.output_limit)
        return ERROR_NONE;
    return error_set(&job->error, ERROR_OUTPUT_TOO_LARGE, NULL,
                     "the elements take %zu bytes%s; the limit is %zu (setting max_output): ask "
                     "for some rows at a time, ?rows=0:1000",
                     bytes, tensor_job_is_json(job) ? " as JSON" : "", job->rules.output_limit);
}

/* A client that has the tensor is told so, which is no fault, but only where it could get what it
 * asks for (RFC 9110, 13.2). */
enum error_code tensor_job_plan_read(struct job *job)
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
    return tensor_job_check_rows(job, resident) != ERROR_NONE ? job->error.code
                                                              : check_read(job, resident);
}

enum error_code tensor_job_no_memory(struct job *job, size_t bytes)
{
    return error_set(&job->error, ERROR_RESOURCE_EXHAUSTED, NULL,
                     "there is no memory for an answer of %zu bytes", bytes);
}

static enum error_code encode_json(struct job *job, const struct tensor *t, const struct work *work)
{
    size_t room = json_tensor_text_max(t) + TENSOR_DESCRIPTION_MAX, size;
    char *out = arena_get(&job->arena, room);
    struct text text;
    if (!out)
        return tensor_job_no_memory(job, room);
    text_init(&text, out, TENSOR_DESCRIPTION_MAX);
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
enum error_code tensor_job_read(struct job *job, const struct work *work)
{
    struct holds *holds = &job->holds;
    const struct resident *resident = turn_resident(&holds->turn, holds->about);
    size_t bytes = tensor_job_read_bytes(job, resident);
    struct tensor rows;
    struct text text;
    char head[ANSWER_HEAD_ROOM];
    char *memory =
        bytes <= SIZE_MAX - sizeof head ? arena_get(&job->arena, bytes + sizeof head) : NULL;
    if (!memory)
        return tensor_job_no_memory(job, bytes);
    tensor_job_rows(&job->call, resident, &rows);
    char *elements = memory + sizeof head;
    memcpy(elements, rows.data, bytes);
    rows.data = elements;
    holds_release(holds);
    if (tensor_job_is_json(job))
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
enum error_code tensor_job_unchanged(struct job *job, const struct work *work)
{
    struct holds *holds = &job->holds;
    struct tensor rows;
    struct text text;
    char head[ANSWER_HEAD_ROOM];
    size_t bytes = tensor_job_read_bytes(job, turn_resident(&holds->turn, holds->about));
    if (tensor_job_is_json(job) && tensor_job_read(job, work) != ERROR_NONE)
        return job->error.code;
    if (!tensor_job_is_json(job)) {
        tensor_job_rows(&job->call, turn_resident(&holds->turn, holds->about), &rows);
        holds_release(holds);
        text_init(&text, head, sizeof head);
        put_data_head(job, &rows, bytes, &text);
        job->response.size = text.size + bytes;
    }
    job->status = 304;
    job->response = (struct response){.size = job->response.size, .header_length = -1};
    return ERROR_NONE;
}
