#include "proto/request/tensor_read.h"

#include "kernels/plan.h"
#include "proto/json/tensor.h"
#include "proto/number/digits.h"
#include "proto/request/guise.h"
#include "proto/request/inflate.h"
#include "proto/request/json.h"
#include "proto/request/parse.h"
#include "proto/request/safetensors_read.h"
#include "proto/text.h"

#include <string.h>
#include <strings.h>

const struct op request_keeping = {
    .name = "a kept tensor",
    .names = {{"a kept tensor", 13, 1}},
    .inputs = {"tensor"},
    .ranks = {{0, RANK_MAX}},
    .required = 1,
    .values = 1,
    .dtypes = ((dtype_set)1 << DTYPE_COUNT) - 1 - DTYPE_BIT(NONE) - DTYPE_BIT(BYTES),
};

static bool is_type(const char *content_type, const char *name)
{
    size_t size = strlen(name);
    return strncasecmp(content_type, name, size) == 0 &&
           strchr("; \t", content_type[size]); /* strchr finds the terminator, too */
}

enum tensor_body tensor_body_of(const struct head *head, const char *content_type, bool said)
{
    if (said)
        return TENSOR_BODY_RAW;
    bool is_json = head->header_length >= 0 ||
                   (content_type && (is_type(content_type, "application/json") ||
                                     is_type(content_type, "application/x-www-form-urlencoded")));
    return is_json ? TENSOR_BODY_JSON : TENSOR_BODY_SAFETENSORS;
}

static enum error_code check_bytes(const struct tensor *t, size_t bytes, struct error *error)
{
    size_t needed;
    char shape[SHAPE_TEXT_MAX];
    if (tensor_bytes(t, &needed) && needed == bytes)
        return ERROR_NONE;
    return error_set(error, ERROR_SIZE_MISMATCH, NULL,
                     "there are %zu bytes of elements, which is not what %s of shape %s needs",
                     bytes, dtype_name(t->dtype), shape_print(shape, t->shape, t->rank));
}

static enum error_code check_announced(struct decode *d, const struct tensor *t,
                                       struct error *error)
{
    d->request->inputs[0] = *t;
    if (plan_check_types(&d->request->op, d->request->inputs, ~0u, error) != ERROR_NONE)
        return error->code;
    if (t->rank > RANK_MAX)
        return error_set(error, ERROR_SHAPE_MISMATCH, NULL,
                         "shape has %d dimensions; at most %d are possible", t->rank, RANK_MAX);
    size_t bytes;
    char shape[SHAPE_TEXT_MAX];
    if (!tensor_bytes(t, &bytes))
        return error_set(error, ERROR_SIZE_MISMATCH, NULL,
                         "shape %s has more bytes than 64 bits can count",
                         shape_print(shape, t->shape, t->rank));
    return ERROR_NONE;
}

enum error_code request_check_kept(struct decode *d, const struct tensor *t, size_t bytes,
                                   struct error *error)
{
    enum error_code code = check_announced(d, t, error);
    return code ? code : check_bytes(t, bytes, error);
}

static enum error_code take(struct decode *d, struct tensor *t, char *at, size_t bytes,
                            struct error *error)
{
    t->data = at;
    return request_check_kept(d, t, bytes, error);
}

static enum error_code read_safetensors(struct decode *d, struct tensor *t, struct span inner,
                                        struct error *error)
{
    struct frame frame;
    enum error_code code =
        safetensors_read(d, (char *)(uintptr_t)inner.data, inner.size, &frame, error);
    if (code)
        return code;
    if (d->input_count != 1)
        return error_set(error, ERROR_INVALID_FIELD, NULL,
                         "the safetensors file has %d tensors; expected one", d->input_count);
    *t = d->inputs[0].tensor;
    return take(d, t, frame.at, frame.left, error);
}

static enum error_code read_json(struct decode *d, struct tensor *t, struct span inner,
                                 struct error *error)
{
    struct json_scan scan;
    char *body = (char *)(uintptr_t)inner.data;
    size_t json_size = d->head->header_length >= 0 ? (size_t)d->head->header_length : inner.size;
    enum error_code code = request_check_sizes(d->head, d->rules, inner.size, error);
    if (!code && json_size > inner.size)
        code = error_set(error, ERROR_INVALID_HEADER, NULL,
                         "Inference-Header-Content-Length is %zu, but the body has only %zu bytes",
                         json_size, inner.size);
    if (!code)
        code = json_scan_tensor(&scan, body, json_size, ENVELOPE_MAX, d->work, error);
    if (code == ERROR_INVALID_JSON)
        return guise_explain(body, inner.size, d->head->header_length, error);
    if (!code)
        code = request_json_tensor(d, &scan, error);
    if (code)
        return code;
    const struct announced *a = &d->inputs[0];
    *t = a->tensor;
    struct json_value value = {&scan, a->cut, t->dtype == DTYPE_NONE};
    if (t->dtype == DTYPE_NONE)
        t->dtype = DTYPE_FP32;
    if (d->head->header_length >= 0 && a->source != SOURCE_CUT)
        return take(d, t, body + json_size, inner.size - json_size, error);
    code = check_announced(d, t, error);
    if (code || a->source == SOURCE_NONE)
        return code;
    return json_tensor_read(t, "tensor", &value, d->work, &d->bare_tokens, error);
}

static enum error_code inflate(struct decode *d, enum tensor_body kind, struct span *inner,
                               struct error *error)
{
    struct inflated plain = {(char *)(uintptr_t)inner->data, inner->size};
    struct inflate_limit limit = {d->rules->body_limit, "max_body"};
    size_t lead = d->head->header_length > 0 ? (size_t)d->head->header_length : 0;
    if (kind == TENSOR_BODY_JSON && lead == 0 && d->rules->json_limit < limit.bytes)
        limit = (struct inflate_limit){d->rules->json_limit, "max_json"};
    if (d->head->coding == CODING_IDENTITY)
        return ERROR_NONE;
    enum error_code code = inflate_body(&plain, d->head->coding, inner->data, inner->size, lead,
                                        limit, d->work, error);
    *inner = (struct span){plain.data, plain.size};
    return code;
}

enum error_code tensor_read(struct tensor *t, enum tensor_body kind, const struct head *head,
                            const struct request_rules *rules, const struct work *work,
                            struct span *inner, struct error *error)
{
    struct request request = {.op = {"a kept tensor", &request_keeping, 1}, .device_index = -1};
    struct decode d = {
        .request = &request, .head = head, .rules = rules, .work = work, .any_name = true};
    enum error_code code = inflate(&d, kind, inner, error);
    if (code)
        return code;
    if (inner->size > rules->body_limit)
        return request_check_sizes(head, rules, inner->size, error);
    switch (kind) {
    case TENSOR_BODY_RAW:
        return take(&d, t, (char *)(uintptr_t)inner->data, inner->size, error);
    case TENSOR_BODY_JSON:
        return read_json(&d, t, *inner, error);
    case TENSOR_BODY_SAFETENSORS:
        break;
    }
    return read_safetensors(&d, t, *inner, error);
}

enum error_code tensor_patch_read(const char **ttl, const char *body, size_t size,
                                  const struct work *work, struct error *error)
{
    struct json_scan scan;
    const cJSON *tree;
    enum error_code code = json_scan_tensor(&scan, body, size, ENVELOPE_MAX, work, error);
    if (!code)
        code = envelope_parse(&tree, &scan, work->memory, error);
    if (code)
        return code;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, "ttl");
    if (!item || tree->child != item || item->next)
        return error_set(error, ERROR_INVALID_FIELD, NULL,
                         "expected is {\"ttl\": \"1h\"} or {\"ttl\": null}, nothing else");
    if (!cJSON_IsNull(item) && !envelope_string(item))
        return envelope_wrong(NULL, "ttl", item, "a time such as \"600s\", or null", error);
    *ttl = envelope_string(item);
    return ERROR_NONE;
}

static bool read_shape(struct tensor *t, const char *text)
{
    t->rank = 0;
    while (*text) {
        uint64_t size;
        const char *end = digits_read(text, DIMENSION_MAX, &size);
        if (!end || t->rank == RANK_MAX || (*end && (*end != ',' || !end[1])))
            return false;
        t->shape[t->rank++] = (int64_t)size;
        text = *end ? end + 1 : end;
    }
    return true;
}

enum error_code tensor_said_parse(struct tensor *t, const char *datatype, const char *shape,
                                  struct error *error)
{
    char accepted[256];
    struct text list;
    t->dtype = dtype_from_v2(datatype, strlen(datatype));
    t->data = NULL;
    if (t->dtype == DTYPE_NONE || t->dtype == DTYPE_BYTES) {
        text_init(&list, accepted, sizeof accepted);
        text_dtypes(&list, request_keeping.dtypes & ~(DTYPE_BIT(C64) | DTYPE_BIT(C128)),
                    dtype_name);
        return error_set(error, ERROR_UNSUPPORTED_DTYPE, NULL,
                         "datatype is '%.40s', allowed are %s", datatype, accepted);
    }
    if (read_shape(t, shape))
        return ERROR_NONE;
    return error_set(
        error, ERROR_INVALID_PARAMETER, NULL,
        "shape is '%.80s', expected are at most %d sizes up to 2^53 - 1 with commas, such as "
        "1000,64",
        shape, RANK_MAX);
}
