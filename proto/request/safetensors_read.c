#include "proto/request/safetensors_read.h"

#include "proto/request/guise.h"
#include "proto/request/json.h"
#include "proto/request/safetensors_parts.h"

#include <string.h>

/* A body whose first bytes are no length that it could have: what it looks like, if anything. */
static enum error_code not_safetensors(const char *body, size_t size, uint64_t length,
                                       struct error *error)
{
    struct guise guise = guise_of(body, size);
    if (guise.kind != GUISE_NONE)
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "the body is read as a safetensors file, but it looks like %s; %s",
                         guise.looks, guise.advice);
    if (size < SAFETENSORS_LENGTH_BYTES)
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "the body has %zu bytes; a safetensors file has at least 8", size);
    return error_set(error, ERROR_INVALID_HEADER, NULL,
                     "the safetensors header says that it has %llu bytes; it may have %d and the "
                     "body has %zu after it",
                     (unsigned long long)length, SAFETENSORS_HEADER_MAX,
                     size - SAFETENSORS_LENGTH_BYTES);
}

/* Finds the JSON and what follows it. */
static enum error_code split(const struct decode *d, char *body, size_t size, size_t *json_size,
                             struct frame *frame, struct error *error)
{
    uint64_t length = 0;
    if (size >= SAFETENSORS_LENGTH_BYTES)
        memcpy(&length, body, SAFETENSORS_LENGTH_BYTES);
    if (size < SAFETENSORS_LENGTH_BYTES || length > SAFETENSORS_HEADER_MAX ||
        length > size - SAFETENSORS_LENGTH_BYTES)
        return not_safetensors(body, size, length, error);
    if (length > d->rules->json_limit)
        return error_set(error, ERROR_PAYLOAD_TOO_LARGE, NULL,
                         "the safetensors header has %llu bytes; the limit is %zu (setting "
                         "max_json)",
                         (unsigned long long)length, d->rules->json_limit);
    *json_size = (size_t)length;
    *frame = (struct frame){body + SAFETENSORS_LENGTH_BYTES + length,
                            size - SAFETENSORS_LENGTH_BYTES - (size_t)length};
    return ERROR_NONE;
}

/* The format knows strings and plain unsigned integers only. The text has passed json_scan. */
static enum error_code check_plain(const char *json, size_t size, struct error *error)
{
    bool inside = false;
    for (size_t i = 0; i < size; i++) {
        if (inside && json[i] == '\\')
            i++;
        else if (json[i] == '"')
            inside = !inside;
        else if (!inside && !strchr("0123456789{}[],: \t\r\n", json[i]))
            return error_set(error, ERROR_INVALID_FIELD, NULL,
                             "byte %zu of the safetensors header is '%c'; values are strings and "
                             "unsigned integers in plain digits",
                             i, json[i]);
    }
    return ERROR_NONE;
}

static enum error_code read_metadata(struct decode *d, const cJSON *metadata, struct error *error)
{
    const cJSON *item;
    if (!cJSON_IsObject(metadata))
        return envelope_wrong(NULL, safetensors_metadata, metadata, "an object of strings", error);
    cJSON_ArrayForEach(item, metadata)
    {
        const char *value = envelope_string(item);
        if (!value)
            return envelope_wrong(NULL, "a member of __metadata__", item, "a string", error);
        enum error_code code = strcmp(item->string, "id") == 0
                                   ? request_id(d, value, error)
                                   : request_text_parameter(d, item->string, value, error);
        if (code)
            return code;
    }
    return ERROR_NONE;
}

static enum error_code read_dtype(struct decode *d, struct announced *a, const cJSON *item,
                                  struct error *error)
{
    const char *name = envelope_string(item);
    if (!name)
        return envelope_wrong(d->request->op.op->inputs[a->input], "dtype", item, "a string",
                              error);
    a->tensor.dtype = dtype_from_safetensors(name, strlen(name));
    return a->tensor.dtype == DTYPE_NONE ? request_unknown_dtype(d, a->input, name, error)
                                         : ERROR_NONE;
}

static enum error_code read_offsets(struct decode *d, struct announced *a, const cJSON *item,
                                    struct error *error)
{
    const char *input = d->request->op.op->inputs[a->input];
    int64_t begin, end;
    if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != 2 ||
        !envelope_size(item->child, &begin) || !envelope_size(item->child->next, &end) ||
        begin > end)
        return envelope_wrong(input, "data_offsets", item,
                              "[begin, end], two integers with begin <= end", error);
    a->source = SOURCE_BINARY;
    a->begin = (size_t)begin;
    a->bytes = (size_t)(end - begin);
    return ERROR_NONE;
}

/* In the order of checks. A tensor has all of them and nothing else. */
static const struct {
    const char *name;
    enum error_code (*read)(struct decode *d, struct announced *a, const cJSON *item,
                            struct error *error);
} members[] = {
    {"dtype", read_dtype},
    {"shape", request_json_shape},
    {"data_offsets", read_offsets},
};

enum { MEMBER_COUNT = sizeof(members) / sizeof(members[0]) };

enum error_code safetensors_tensor(struct decode *d, const cJSON *tensor, struct error *error)
{
    struct announced *a;
    enum error_code code = request_announce(d, tensor->string, &a, error);
    if (code)
        return code;
    const char *input = d->request->op.op->inputs[a->input];
    if (!cJSON_IsObject(tensor) || cJSON_GetArraySize(tensor) != MEMBER_COUNT)
        return envelope_wrong(NULL, input, tensor,
                              "an object of dtype, shape and data_offsets, nothing else", error);
    for (int i = 0; i < MEMBER_COUNT; i++) {
        const cJSON *item = envelope_member(tensor, members[i].name);
        if (!item)
            return error_set(error, ERROR_INVALID_FIELD, input, "%s has no %s", input,
                             members[i].name);
        code = members[i].read(d, a, item, error);
        if (code)
            return code;
    }
    return ERROR_NONE;
}

static enum error_code read_header(struct decode *d, const cJSON *header, struct error *error)
{
    const cJSON *item = envelope_member(header, safetensors_metadata);
    enum error_code code = item ? read_metadata(d, item, error) : ERROR_NONE;
    if (code)
        return code;
    cJSON_ArrayForEach(item, header)
    {
        code = strcmp(item->string, safetensors_metadata) == 0 ? ERROR_NONE
                                                               : safetensors_tensor(d, item, error);
        if (code)
            return code;
    }
    return ERROR_NONE;
}

static void sort_by_offset(struct decode *d)
{
    for (int i = 1; i < d->input_count; i++) {
        struct announced a = d->inputs[i];
        int at = i;
        for (;
             at > 0 && (d->inputs[at - 1].begin > a.begin ||
                        (d->inputs[at - 1].begin == a.begin && d->inputs[at - 1].bytes > a.bytes));
             at--)
            d->inputs[at] = d->inputs[at - 1];
        d->inputs[at] = a;
    }
}

/* Every byte of the data belongs to exactly one tensor. */
static enum error_code check_tiling(const struct decode *d, const struct frame *frame,
                                    struct error *error)
{
    size_t end = 0;
    for (int i = 0; i < d->input_count; i++) {
        const struct announced *a = &d->inputs[i];
        const char *input = d->request->op.op->inputs[a->input];
        if (a->begin != end)
            return error_set(error, ERROR_SIZE_MISMATCH, input,
                             "data_offsets of %s begin at %zu; expected %zu, where the tensor "
                             "before it ends",
                             input, a->begin, end);
        end += a->bytes;
    }
    if (end != frame->left)
        return error_set(error, ERROR_SIZE_MISMATCH, NULL,
                         "the safetensors file has %zu bytes of data; its tensors end at %zu",
                         frame->left, end);
    return ERROR_NONE;
}

enum error_code safetensors_json(const cJSON **header, struct json_scan *scan, const char *json,
                                 size_t size, const struct work *work, struct error *error)
{
    if (size == 0 || json[0] != '{')
        return error_set(error, ERROR_INVALID_JSON, NULL,
                         "the safetensors header does not start with '{'");
    enum error_code code = json_scan_whole(scan, json, size, work, error);
    if (!code)
        code = check_plain(json, size, error);
    return code ? code : envelope_parse(header, scan, work->memory, error);
}

static enum error_code parse_header(struct decode *d, const char *json, size_t size,
                                    struct error *error)
{
    struct json_scan scan;
    const cJSON *header;
    if (request_recall(d, &scan, json, size))
        return ERROR_NONE;
    enum error_code code = safetensors_json(&header, &scan, json, size, d->work, error);
    if (!code)
        code = read_header(d, header, error);
    if (code)
        return code;
    request_remember(d, &scan);
    return ERROR_NONE;
}

enum error_code safetensors_read(struct decode *d, char *body, size_t size, struct frame *frame,
                                 struct error *error)
{
    size_t json_size = 0;
    enum error_code code = split(d, body, size, &json_size, frame, error);
    if (!code)
        code = parse_header(d, body + SAFETENSORS_LENGTH_BYTES, json_size, error);
    if (code)
        return code;
    sort_by_offset(d);
    return check_tiling(d, frame, error);
}
