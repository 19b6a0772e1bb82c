#include "proto/answer/response.h"

#include "proto/answer/response_head.h"
#include "proto/json/tensor.h"
#include "proto/text.h"

#include <assert.h>
#include <string.h>

enum { STOP_EVERY = 64 * 1024 };

/* The end of an answer that is all JSON. It ends its line, so that a shell's prompt starts on the
 * next one. */
static const char json_tail[] = "}]}\n";

static bool can_say(enum encoding encoding, enum dtype dtype)
{
    const char *name = dtype_name(dtype);
    return encoding == ENCODING_SAFETENSORS ? dtype_safetensors_name(dtype) != NULL
                                            : dtype_from_v2(name, strlen(name)) == dtype;
}

static enum error_code text_too_large(const struct tensor *output, size_t size, size_t limit,
                                      struct error *error)
{
    char shape[SHAPE_TEXT_MAX];
    return error_set(error, ERROR_OUTPUT_TOO_LARGE, NULL,
                     "the output, %s of shape %s, can take %zu bytes as JSON; the limit is %zu "
                     "(setting max_output): ask for binary",
                     dtype_name(output->dtype), shape_print(shape, output->shape, output->rank),
                     size, limit);
}

enum error_code response_check(const struct request *request, const struct plan *plan,
                               const struct request_rules *rules, struct error *error)
{
    const struct tensor *output = &plan->output;
    if (reference_is_set(&request->into))
        return ERROR_NONE;
    if (!can_say(request->answer, output->dtype))
        return error_set(error, ERROR_UNSUPPORTED_DTYPE, NULL,
                         "the output is %s, which %s; ask for another form by Accept",
                         dtype_name(output->dtype),
                         request->answer == ENCODING_SAFETENSORS ? "safetensors does not have"
                                                                 : "protocol v2 does not have");
    if (request->answer != ENCODING_JSON || output->dtype == DTYPE_BYTES)
        return ERROR_NONE;
    size_t size = json_tensor_text_max(output);
    return size > rules->output_limit ? text_too_large(output, size, rules->output_limit, error)
                                      : ERROR_NONE;
}

size_t response_memory(const struct request *request, const struct plan *plan)
{
    if (reference_is_set(&request->into))
        return ANSWER_HEAD_ROOM;
    if (request->answer != ENCODING_JSON || plan->output.dtype == DTYPE_BYTES)
        return 0;
    size_t room;
    bool overflows = __builtin_add_overflow(json_tensor_text_max(&plan->output),
                                            ANSWER_HEAD_ROOM + sizeof(json_tail), &room);
    return overflows ? SIZE_MAX : room;
}

static enum error_code no_memory(size_t bytes, struct error *error)
{
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                     "there is no memory for an answer of %zu bytes", bytes);
}

static enum error_code encode_json(struct response *response, const struct request *request,
                                   const struct plan *plan, const struct work *work,
                                   struct error *error)
{
    size_t most = json_tensor_text_max(&plan->output), room, size;
    size_t limit = plan->options.output_limit;
    if (most > limit || __builtin_add_overflow(most, ANSWER_HEAD_ROOM + sizeof(json_tail), &room))
        return text_too_large(&plan->output, most, limit, error);
    char *data = work->memory->get(work->memory, room);
    if (!data)
        return no_memory(room, error);
    struct text t;
    text_init(&t, data, ANSWER_HEAD_ROOM);
    response_head_json(&t, request, plan);
    enum error_code code =
        json_tensor_print(&plan->output, request->nonfinite, data + t.size, &size, work, error);
    if (code)
        return code;
    memcpy(data + t.size + size, json_tail, sizeof(json_tail) - 1);
    *response = (struct response){.data = data,
                                  .size = t.size + size + sizeof(json_tail) - 1,
                                  .header_length = -1,
                                  .content_type = "application/json"};
    return ERROR_NONE;
}

/* What BYTES elements take on the wire. */
static enum error_code packed_bytes(const struct plan *plan, int64_t count, const struct work *work,
                                    size_t *total, struct error *error)
{
    const struct span *spans = plan->output.data;
    size_t limit = plan->options.output_limit;
    *total = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i % STOP_EVERY == 0 && work_stopped(work))
            return error_set(error, ERROR_CANCELLED, NULL, "stopped while encoding the answer");
        size_t left = limit - *total;
        if (left < BYTES_SIZE_BYTES || spans[i].size > left - BYTES_SIZE_BYTES ||
            spans[i].size > UINT32_MAX)
            return error_set(error, ERROR_OUTPUT_TOO_LARGE, NULL,
                             "the output's %lld BYTES elements have more than %zu bytes, the limit "
                             "(setting max_output)",
                             (long long)count, limit);
        *total += BYTES_SIZE_BYTES + spans[i].size;
    }
    return ERROR_NONE;
}

static void pack(char *out, const struct span *spans, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t size = (uint32_t)spans[i].size;
        memcpy(out, &size, BYTES_SIZE_BYTES);
        if (size > 0)
            memcpy(out + BYTES_SIZE_BYTES, spans[i].data, size);
        out += BYTES_SIZE_BYTES + size;
    }
}

/* The spans may point into the request's body, over which a header would be written: BYTES answers
 * are packed into memory of their own. */
static enum error_code pack_bytes(const struct plan *plan, const struct work *work, char **elements,
                                  size_t *bytes, struct error *error)
{
    int64_t count;
    bool fits = tensor_count(&plan->output, &count);
    assert(fits);
    enum error_code code = packed_bytes(plan, count, work, bytes, error);
    if (code)
        return code;
    char *block = work->memory->get(work->memory, ANSWER_HEAD_ROOM + *bytes);
    if (!block)
        return no_memory(ANSWER_HEAD_ROOM + *bytes, error);
    *elements = block + ANSWER_HEAD_ROOM;
    pack(*elements, plan->output.data, count);
    return ERROR_NONE;
}

/* A header directly in front of the elements, which stay where they are. */
static enum error_code encode_raw(struct response *response, const struct request *request,
                                  const struct plan *plan, const struct work *work,
                                  struct error *error)
{
    char head[ANSWER_HEAD_ROOM], *elements = plan->output.data;
    size_t bytes = plan->output_bytes;
    struct text t;
    text_init(&t, head, sizeof(head));
    if (plan->output.dtype == DTYPE_BYTES) {
        enum error_code code = pack_bytes(plan, work, &elements, &bytes, error);
        if (code)
            return code;
    }
    bool safetensors = request->answer == ENCODING_SAFETENSORS;
    if (safetensors)
        response_head_safetensors(&t, request, plan, bytes);
    else
        response_head_binary(&t, request, plan, bytes);
    memcpy(elements - t.size, head, t.size);
    *response = (struct response){.data = elements - t.size,
                                  .size = t.size + bytes,
                                  .header_length = safetensors ? -1 : (int64_t)t.size,
                                  .content_type = safetensors ? request->safetensors_type
                                                              : "application/octet-stream"};
    return ERROR_NONE;
}

/* The result is kept: it is not sent, and the answer is JSON whatever was asked for. */
static enum error_code encode_into(struct response *response, const struct request *request,
                                   const struct plan *plan, const struct work *work,
                                   struct error *error)
{
    char *data = work->memory->get(work->memory, ANSWER_HEAD_ROOM);
    struct text t;
    if (!data)
        return no_memory(ANSWER_HEAD_ROOM, error);
    text_init(&t, data, ANSWER_HEAD_ROOM);
    response_head_into(&t, request, plan);
    *response = (struct response){
        .data = data, .size = t.size, .header_length = -1, .content_type = "application/json"};
    return ERROR_NONE;
}

enum error_code response_encode(struct response *response, const struct request *request,
                                const struct plan *plan, const struct work *work,
                                struct error *error)
{
    if (reference_is_set(&request->into))
        return encode_into(response, request, plan, work, error);
    return request->answer == ENCODING_JSON ? encode_json(response, request, plan, work, error)
                                            : encode_raw(response, request, plan, work, error);
}
