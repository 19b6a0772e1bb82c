#include "server/follow/entry.h"

#include "proto/number/digits.h"

#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------ ids */

bool entry_id_parse(struct entry_id *id, const char *text)
{
    const char *at = digits_read(text, UINT64_MAX, &id->ms);
    id->count = 0;
    if (at && *at == '-')
        at = digits_read(at + 1, UINT64_MAX, &id->count);
    return at && *at == '\0';
}

void entry_id_print(const struct entry_id *id, char *text)
{
    snprintf(text, ENTRY_ID_MAX, "%" PRIu64 "-%" PRIu64, id->ms, id->count);
}

int entry_id_compare(const struct entry_id *a, const struct entry_id *b)
{
    if (a->ms != b->ms)
        return a->ms < b->ms ? -1 : 1;
    return a->count < b->count ? -1 : a->count > b->count;
}

/* --------------------------------------------------------------------------------------- fields */

enum { HEADER_MAX = 256 };

static const char *const header_names[] = {
    [ENTRY_TYPE] = "Content-Type",
    [ENTRY_ENCODING] = "Content-Encoding",
    [ENTRY_HEADER_LENGTH] = "Inference-Header-Content-Length",
};

const char *entry_header_name(enum entry_header header)
{
    return header_names[header];
}

/* Whether the value is printable ASCII from `first` on: nothing in it ends a line of HTTP, or the
 * text itself. */
static bool is_plain(const redisReply *value, char first)
{
    for (size_t i = 0; i < value->len; i++)
        if (value->str[i] < first || value->str[i] > '~')
            return false;
    return value->len > 0;
}

static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE"};

static const char *take_method(struct entry *entry, const redisReply *value)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strlen(methods[i]) == value->len && memcmp(methods[i], value->str, value->len) == 0) {
            entry->method = methods[i];
            return NULL;
        }
    return "method is not POST, PUT, PATCH or DELETE";
}

static const char *take_path(struct entry *entry, const redisReply *value)
{
    if (entry->path)
        return "path stands there twice";
    if (!is_plain(value, '!') || strncmp(value->str, "/v2/", 4) != 0 || strchr(value->str, '#'))
        return "path does not begin with /v2/, or has a blank, '#' or a character that HTTP has "
               "not";
    if (strstr(value->str, "?ttl=") || strstr(value->str, "&ttl="))
        return "path has a ttl, which ends at another time on every server";
    entry->path = value->str;
    return NULL;
}

static const char *take_body(struct entry *entry, const redisReply *value)
{
    if (entry->body)
        return "body stands there twice";
    entry->body = value->str;
    entry->body_size = value->len;
    return NULL;
}

static const char *take_header(struct entry *entry, enum entry_header header,
                               const redisReply *value)
{
    if (entry->headers[header])
        return "a header stands there twice";
    if (!is_plain(value, ' ') || value->len > HEADER_MAX)
        return "a header is empty, has more than 256 bytes, or a character that HTTP has not";
    entry->headers[header] = value->str;
    return NULL;
}

static bool is_named(const redisReply *name, const char *text)
{
    return strlen(text) == name->len && memcmp(name->str, text, name->len) == 0;
}

static const char *take(struct entry *entry, const redisReply *name, const redisReply *value)
{
    static const char *const headers[] = {
        [ENTRY_TYPE] = "content-type",
        [ENTRY_ENCODING] = "content-encoding",
        [ENTRY_HEADER_LENGTH] = "inference-header-content-length",
    };
    if (is_named(name, "path"))
        return take_path(entry, value);
    if (is_named(name, "method"))
        return entry->method ? "method stands there twice" : take_method(entry, value);
    if (is_named(name, "body"))
        return take_body(entry, value);
    for (int i = 0; i < ENTRY_HEADERS; i++)
        if (is_named(name, headers[i]))
            return take_header(entry, i, value);
    return "it has a field other than path, method, body, content-type, content-encoding and "
           "inference-header-content-length";
}

static bool is_string(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING;
}

const char *entry_read(struct entry *entry, const redisReply *reply, bool *has_id)
{
    const char *fault = NULL;
    *entry = (struct entry){.method = NULL};
    *has_id = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
              is_string(reply->element[0]) && entry_id_parse(&entry->id, reply->element[0]->str) &&
              reply->element[1]->type == REDIS_REPLY_ARRAY && reply->element[1]->elements % 2 == 0;
    if (!*has_id)
        return "it is no entry of a stream";
    const redisReply *fields = reply->element[1];
    for (size_t i = 0; i < fields->elements && !fault; i += 2)
        fault = is_string(fields->element[i]) && is_string(fields->element[i + 1])
                    ? take(entry, fields->element[i], fields->element[i + 1])
                    : "a field is no string";
    if (!fault && !entry->path)
        fault = "it has no path";
    if (!entry->method)
        entry->method = methods[0];
    return fault;
}
