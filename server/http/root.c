#include "server/http/root.h"

#include "proto/answer/describe.h"
#include "server/base/version.h"
#include "server/console/page.h"
#include "server/http/accept.h"
#include "server/http/headers.h"
#include "server/server.h"

#include <string.h>

enum { ENTRIES_BYTES = 4096, PAGE_HEADERS = 9 };

static bool wants_page(const struct headers *headers)
{
    const char *accept = headers->value[HEADER_ACCEPT];
    int html = accept_weight(accept, "text/html");
    return html > 0 && html >= accept_weight(accept, "application/json");
}

/* Whether If-None-Match lists this tag; a weak one is as good here. */
static bool is_known(const struct headers *headers, const char *etag)
{
    const char *known = headers->value[HEADER_IF_NONE_MATCH];
    return known && (strcmp(known, "*") == 0 || strstr(known, etag));
}

static enum error_code answer_page(struct call *call, struct error *error)
{
    bool zipped = accept_weight(call->headers->value[HEADER_ACCEPT_ENCODING], "gzip") > 0;
    const struct console_form *form = zipped ? &console_gzip : &console_plain;
    struct reply *reply = call->reply;
    struct reply_header *headers = arena_get(call->arena, PAGE_HEADERS * sizeof *headers);
    if (!headers)
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for the answer");
    const struct reply_header all[PAGE_HEADERS] = {
        {"Content-Security-Policy", console_policy},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cache-Control", "no-cache"},
        {"Vary", "Accept, Accept-Encoding"},
        {"ETag", form->etag},
        {zipped ? "Content-Encoding" : NULL, "gzip"},
    };
    memcpy(headers, all, sizeof all);
    reply->headers = headers;
    reply->content_type = "text/html; charset=utf-8";
    if (is_known(call->headers, form->etag)) {
        reply->status = 304;
        reply->content_type = NULL;
        return ERROR_NONE;
    }
    reply->data = (const char *)form->bytes;
    reply->size = form->size;
    return ERROR_NONE;
}

static enum error_code answer_entries(struct call *call, struct error *error)
{
    static const struct reply_header headers[] = {
        {"Cache-Control", "no-cache"}, {"Vary", "Accept, Accept-Encoding"}, {NULL, NULL}};
    struct text text;
    char *memory = arena_get(call->arena, ENTRIES_BYTES);
    if (!memory)
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for the answer");
    text_init(&text, memory, ENTRIES_BYTES);
    describe_entries(&text, TENSORD_VERSION, call->server->config.base_path);
    call->reply->headers = headers;
    call->reply->data = text.data;
    call->reply->size = text.size;
    return ERROR_NONE;
}

enum error_code root_answer(struct call *call, struct error *error)
{
    if (!call->server->config.console)
        return error_set(error, ERROR_NOT_FOUND, NULL, "there is nothing at /");
    return wants_page(call->headers) ? answer_page(call, error) : answer_entries(call, error);
}
