#include "server/http/root.h"

#include "proto/answer/describe.h"
#include "server/base/exhausted.h"
#include "server/base/version.h"
#include "server/console/page.h"
#include "server/http/accept.h"
#include "server/http/headers.h"
#include "server/server.h"

#include <microhttpd.h>
#include <string.h>

enum { PAGE_HEADERS = 9 };

static bool wants_page(const struct headers *headers)
{
    const char *accept = headers->value[HEADER_ACCEPT];
    int html = accept_weight(accept, "text/html");
    return html > 0 && html >= accept_weight(accept, "application/json");
}

/* Whether If-None-Match lists this tag, be it as a weak one (RFC 9110, 13.1.2). */
static bool is_known(const struct headers *headers, const char *etag)
{
    const char *known = headers->value[HEADER_IF_NONE_MATCH];
    return known && (strcmp(known, "*") == 0 || strstr(known, etag));
}

static void answer_page(struct call *call)
{
    bool zipped = accept_weight(call->headers->value[HEADER_ACCEPT_ENCODING], "gzip") > 0;
    const struct console_form *form = zipped ? &console_gzip : &console_plain;
    const struct reply_header headers[PAGE_HEADERS] = {
        {"Content-Security-Policy", console_policy},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cache-Control", "no-cache"},
        {"Vary", "Accept, Accept-Encoding"},
        {"ETag", form->etag},
        {zipped ? "Content-Encoding" : NULL, "gzip"},
    };
    struct reply_header *kept = arena_get(call->arena, sizeof headers);
    struct reply *reply = call->reply;
    if (!kept) {
        error_no_memory(call->error);
        return;
    }
    reply->headers = memcpy(kept, headers, sizeof headers);
    if (is_known(call->headers, form->etag)) {
        reply->status = MHD_HTTP_NOT_MODIFIED;
        reply->content_type = NULL;
        return;
    }
    reply->content_type = "text/html; charset=utf-8";
    reply->data = (const char *)form->bytes;
    reply->size = form->size;
}

void root_answer(struct call *call, struct text *text)
{
    static const struct reply_header headers[] = {
        {"Cache-Control", "no-cache"}, {"Vary", "Accept, Accept-Encoding"}, {NULL, NULL}};
    const struct config *config = &call->server->config;
    if (!config->console) {
        error_set(call->error, ERROR_NOT_FOUND, NULL, "there is nothing at /");
    } else if (wants_page(call->headers)) {
        answer_page(call);
    } else {
        call->reply->headers = headers;
        describe_entries(text, TENSORD_VERSION, config->base_path);
    }
}
