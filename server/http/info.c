#include "server/http/info.h"

#include "proto/answer/describe.h"
#include "proto/text.h"
#include "server/base/version.h"
#include "server/http/metrics_print.h"
#include "server/rules.h"
#include "server/server.h"

#include <string.h>

enum { INFO_START_BYTES = 4096, INFO_MOST_BYTES = 4 << 20 };

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

static void print_server(const struct call *call, struct text *text)
{
    struct request_rules rules = server_rules(call->server);
    describe_server(text, TENSORD_VERSION, &rules);
}

enum error_code info_server(struct call *call, struct error *error)
{
    return answer_printed(call, print_server, error);
}

static void print_model(const struct call *call, struct text *text)
{
    describe_model(text, &call->op);
}

enum error_code info_model(struct call *call, struct error *error)
{
    return answer_printed(call, print_model, error);
}

static void print_model_config(const struct call *call, struct text *text)
{
    describe_model_config(text, &call->op);
}

enum error_code info_model_config(struct call *call, struct error *error)
{
    return answer_printed(call, print_model_config, error);
}

static void print_model_stats(const struct call *call, struct text *text)
{
    struct op_stats stats;
    metrics_op_stats(&call->server->metrics, metrics_op_number(call->op.op), &stats);
    describe_model_stats(text, &call->op, &stats);
}

enum error_code info_model_stats(struct call *call, struct error *error)
{
    return answer_printed(call, print_model_stats, error);
}

static void print_all_stats(const struct call *call, struct text *text)
{
    struct op_stats stats[METRICS_OPS_MAX];
    for (int op = 0; op < op_count(); op++)
        metrics_op_stats(&call->server->metrics, op, &stats[op]);
    describe_all_stats(text, stats);
}

enum error_code info_all_stats(struct call *call, struct error *error)
{
    return answer_printed(call, print_all_stats, error);
}

static void print_models(const struct call *call, struct text *text)
{
    (void)call;
    describe_models(text);
}

enum error_code info_models(struct call *call, struct error *error)
{
    return answer_printed(call, print_models, error);
}

static void print_index(const struct call *call, struct text *text)
{
    describe_index(text, !why_not_ready(call->server->phase));
}

enum error_code info_index(struct call *call, struct error *error)
{
    return answer_printed(call, print_index, error);
}

static void print_trace(const struct call *call, struct text *text)
{
    (void)call;
    describe_trace(text);
}

enum error_code info_trace(struct call *call, struct error *error)
{
    return answer_printed(call, print_trace, error);
}

static void print_logging(const struct call *call, struct text *text)
{
    (void)call;
    describe_logging(text);
}

enum error_code info_logging(struct call *call, struct error *error)
{
    return answer_printed(call, print_logging, error);
}

static void print_openapi(const struct call *call, struct text *text)
{
    const struct config *config = &call->server->config;
    struct described_server described = {TENSORD_VERSION, config->base_path,
                                         config->tokens[0] != '\0'};
    describe_openapi(text, &described);
}

enum error_code info_openapi(struct call *call, struct error *error)
{
    return answer_printed(call, print_openapi, error);
}

static void print_metrics(const struct call *call, struct text *text)
{
    metrics_print(text, call->server);
}

enum error_code info_metrics(struct call *call, struct error *error)
{
    call->reply->content_type = METRICS_CONTENT_TYPE;
    return answer_printed(call, print_metrics, error);
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
