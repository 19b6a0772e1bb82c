#include "proto/request/request.h"

#include "proto/request/guise.h"
#include "proto/request/inflate.h"
#include "proto/request/json.h"
#include "proto/request/parse.h"
#include "proto/request/safetensors_read.h"

static size_t json_size_of(const struct head *head, size_t size)
{
    switch (head->body) {
    case ENCODING_BINARY:
        return (size_t)head->header_length;
    case ENCODING_SAFETENSORS:
        return 0;
    default:
        return size;
    }
}

enum error_code request_check_sizes(const struct head *head, const struct request_rules *rules,
                                    size_t size, struct error *error)
{
    size_t json_size = json_size_of(head, size);
    if (size > rules->body_limit)
        return error_set(error, ERROR_PAYLOAD_TOO_LARGE, NULL,
                         "the body has %zu bytes; the limit is %zu (setting max_body)", size,
                         rules->body_limit);
    if (json_size > size)
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "Inference-Header-Content-Length is %zu, but the body has only %zu bytes",
                         json_size, size);
    if (json_size > rules->json_limit)
        return error_set(error, ERROR_PAYLOAD_TOO_LARGE, NULL,
                         "the JSON has %zu bytes; the limit is %zu (setting max_json); tensors "
                         "can be sent in binary instead",
                         json_size, rules->json_limit);
    return ERROR_NONE;
}

/* JSON, and behind it the tensors that it announces in binary. */
static enum error_code decode_json(struct decode *d, char *body, size_t size, struct error *error)
{
    size_t json_size = json_size_of(d->head, size);
    struct json_scan scan = {0};
    enum error_code code = request_check_sizes(d->head, d->rules, size, error);
    if (code)
        return code;
    if (!request_recall(d, &scan, body, json_size)) {
        code = json_scan(&scan, body, json_size, ENVELOPE_MAX, d->work, error);
        if (code == ERROR_INVALID_JSON)
            return guise_explain(body, size, d->head->header_length, error);
        if (!code)
            code = request_json(d, &scan, error);
        if (code)
            return code;
    }
    struct frame frame = {body + json_size, size - json_size};
    code = request_refer(d, error);
    return code ? code : request_load(d, &scan, &frame, error);
}

static enum error_code decode_safetensors(struct decode *d, char *body, size_t size,
                                          struct error *error)
{
    struct frame frame;
    enum error_code code = request_check_sizes(d->head, d->rules, size, error);
    if (!code)
        code = safetensors_read(d, body, size, &frame, error);
    if (!code)
        code = request_refer(d, error);
    return code ? code : request_load(d, NULL, &frame, error);
}

/* A compressed body that is all JSON is inflated no further than max_json allows. */
static struct inflate_limit inflated_limit(const struct decode *d)
{
    const struct request_rules *rules = d->rules;
    return d->head->body == ENCODING_JSON && rules->json_limit < rules->body_limit
               ? (struct inflate_limit){rules->json_limit, "max_json"}
               : (struct inflate_limit){rules->body_limit, "max_body"};
}

static enum error_code decode(struct decode *d, char *body, size_t size, struct error *error)
{
    struct inflated plain = {body, size};
    if (d->head->coding != CODING_IDENTITY) {
        size_t lead = d->head->header_length > 0 ? (size_t)d->head->header_length : 0;
        enum error_code code = inflate_body(&plain, d->head->coding, body, size, lead,
                                            inflated_limit(d), d->work, error);
        if (code)
            return code;
    }
    enum error_code code = d->head->body == ENCODING_SAFETENSORS
                               ? decode_safetensors(d, plain.data, plain.size, error)
                               : decode_json(d, plain.data, plain.size, error);
    d->request->text = plain.data;
    d->request->text_size = plain.size;
    return code;
}

enum error_code request_decode(struct request *request, const struct op_name *op,
                               const struct head *head, const struct request_rules *rules,
                               const struct work *work, char *body, size_t size,
                               struct error *error)
{
    *request = (struct request){.op = *op, .device = DEVICE_DEFAULT, .device_index = -1};
    struct decode d = {.request = request, .head = head, .rules = rules, .work = work};
    enum error_code code = decode(&d, body, size, error);
    request_resolve(&d);
    return code;
}
