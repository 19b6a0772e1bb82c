#include "server/http/info.h"

#include "proto/answer/describe.h"
#include "server/base/version.h"
#include "server/http/metrics_print.h"
#include "server/http/openapi.h"
#include "server/rules.h"
#include "server/server.h"

void info_live(struct call *call, struct text *text)
{
    (void)call;
    text_puts(text, "{\"live\":true}");
}

static bool is_ready(const struct call *call)
{
    return call->server->phase == PHASE_READY;
}

static void put_reason(const struct server *server, enum phase phase, struct text *text)
{
    const struct files *files = &server->files;
    if (phase != PHASE_STARTING)
        text_puts(text, "draining");
    else
        text_printf(text, "starting: loaded %zu of %zu tensors, %zu of %zu MB", files->loaded_count,
                    files->load_count, files->loaded_bytes / 1000000, files->load_bytes / 1000000);
}

static void set_unavailable(struct reply *reply)
{
    reply->status = 503;
    reply->retry_after = 1;
}

void info_ready(struct call *call, struct text *text)
{
    enum phase phase = call->server->phase;
    if (phase == PHASE_READY) {
        text_puts(text, "{\"live\":true,\"ready\":true}");
        return;
    }
    set_unavailable(call->reply);
    text_puts(text, "{\"live\":true,\"ready\":false,\"error\":\"");
    put_reason(call->server, phase, text);
    text_puts(text, "\"}");
}

void info_model_ready(struct call *call, struct text *text)
{
    bool ready = is_ready(call);
    if (!ready)
        set_unavailable(call->reply);
    text_printf(text, "{\"name\":\"%s\",\"ready\":%s}", call->match->op_name.name,
                ready ? "true" : "false");
}

void info_server(struct call *call, struct text *text)
{
    struct request_rules rules = server_rules(call->server);
    describe_server(text, TENSORD_VERSION, &rules, store_keeps(&call->server->store));
}

void info_model(struct call *call, struct text *text)
{
    describe_model(text, &call->match->op_name);
}

void info_model_config(struct call *call, struct text *text)
{
    describe_model_config(text, &call->match->op_name);
}

void info_model_stats(struct call *call, struct text *text)
{
    const struct op_name *name = &call->match->op_name;
    struct op_stats stats;
    metrics_op_stats(&call->server->metrics, metrics_op_number(name->op), &stats);
    describe_model_stats(text, name, &stats);
}

void info_all_stats(struct call *call, struct text *text)
{
    struct op_stats stats[METRICS_OPS_MAX];
    for (int op = 0; op < op_count(); op++)
        metrics_op_stats(&call->server->metrics, op, &stats[op]);
    describe_all_stats(text, stats);
}

void info_index(struct call *call, struct text *text)
{
    describe_index(text, is_ready(call));
}

void info_models(struct call *call, struct text *text)
{
    (void)call;
    describe_models(text);
}

void info_trace(struct call *call, struct text *text)
{
    (void)call;
    describe_trace(text);
}

void info_logging(struct call *call, struct text *text)
{
    (void)call;
    describe_logging(text);
}

void info_openapi(struct call *call, struct text *text)
{
    const struct config *config = &call->server->config;
    struct openapi_server server = {TENSORD_VERSION, config->base_path, config->tokens[0] != '\0'};
    openapi_print(text, &server);
}

void info_metrics(struct call *call, struct text *text)
{
    call->reply->content_type = METRICS_CONTENT_TYPE;
    metrics_print(text, call->server);
}

void info_empty_list(struct call *call, struct text *text)
{
    (void)call;
    text_puts(text, "[]");
}

void info_empty_object(struct call *call, struct text *text)
{
    (void)call;
    text_puts(text, "{}");
}

void info_not_supported(struct call *call, struct text *text)
{
    (void)text;
    error_set(call->error, ERROR_NOT_SUPPORTED, NULL,
              "this server has no shared memory, loads no models, and its logging and "
              "tracing are not set over HTTP");
}
