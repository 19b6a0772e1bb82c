#include "server/info.h"

#include "proto/json_write.h"
#include "server/server.h"

#include <string.h>

enum { INFO_START_BYTES = 1024, INFO_MOST_BYTES = 4 << 20 };

static enum error_code answer_text(struct call *call, const char *text, size_t size)
{
    call->reply->data = text;
    call->reply->size = size;
    return ERROR_NONE;
}

static enum error_code answer_fixed(struct call *call, const char *text)
{
    return answer_text(call, text, strlen(text));
}

/* Prints into ever larger memory until the text fits. */
static enum error_code answer_printed(struct call *call,
                                      void (*print)(const struct call *call, struct text *text),
                                      struct error *error)
{
    for (size_t capacity = INFO_START_BYTES; capacity <= INFO_MOST_BYTES; capacity *= 4) {
        struct text text;
        char *memory = arena_get(call->arena, capacity);
        if (!memory)
            break;
        text_init(&text, memory, capacity);
        print(call, &text);
        if (!text.cut)
            return answer_text(call, text.data, text.size);
    }
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for the answer");
}

enum error_code info_live(struct call *call, struct error *error)
{
    (void)error;
    return answer_fixed(call, "{\"live\":true}");
}

static const char *why_not_ready(enum phase phase)
{
    return phase == PHASE_STARTING ? "starting" : phase == PHASE_READY ? NULL : "draining";
}

static void print_not_ready(const struct call *call, struct text *text)
{
    text_printf(text, "{\"live\":true,\"ready\":false,\"error\":\"%s\"}",
                why_not_ready(call->server->phase));
}

enum error_code info_ready(struct call *call, struct error *error)
{
    if (!why_not_ready(call->server->phase))
        return answer_fixed(call, "{\"live\":true,\"ready\":true}");
    call->reply->status = 503;
    call->reply->retry_after = 1;
    return answer_printed(call, print_not_ready, error);
}

static void print_model_ready(const struct call *call, struct text *text)
{
    bool ready = !why_not_ready(call->server->phase);
    text_printf(text, "{\"name\":\"%s\",\"ready\":%s}", call->op.name, ready ? "true" : "false");
}

enum error_code info_model_ready(struct call *call, struct error *error)
{
    if (why_not_ready(call->server->phase)) {
        call->reply->status = 503;
        call->reply->retry_after = 1;
    }
    return answer_printed(call, print_model_ready, error);
}

enum error_code info_empty_list(struct call *call, struct error *error)
{
    (void)error;
    return answer_fixed(call, "[]");
}

enum error_code info_empty_object(struct call *call, struct error *error)
{
    (void)error;
    return answer_fixed(call, "{}");
}

enum error_code info_not_supported(struct call *call, struct error *error)
{
    (void)call;
    return error_set(error, ERROR_NOT_SUPPORTED, NULL,
                     "this server has no shared memory, loads no models, and its logging and "
                     "tracing are not set over HTTP");
}
