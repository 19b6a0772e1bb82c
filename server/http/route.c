#include "server/http/route.h"

#include "server/base/exhausted.h"
#include "server/http/info.h"
#include "server/http/root.h"
#include "server/http/tensors.h"

#include <string.h>

#define MODEL     "/v2/models/{op}[/versions/{version}]"
#define TENSOR    "/v2/tensors/{tensor}"
#define SYSTEM    "/v2/systemsharedmemory"
#define CUDA      "/v2/cudasharedmemory"
#define OR_REGION "[/region/{region}]"
#define REGION    "/region/{region}"

#define ROW(METHOD, KIND, PATTERN, ANSWER, ID, SUMMARY, ...)                                       \
    {                                                                                              \
        .method = METHOD_##METHOD, .kind = ROUTE_##KIND, .pattern = (PATTERN), .answer = (ANSWER), \
        .id = (ID), .summary = (SUMMARY), .response = __VA_ARGS__                                  \
    }

/* The first row that fits is taken. */
static const struct route routes[] = {
    ROW(POST, INFER, MODEL "/infer", NULL, "infer", "Runs an operation", "InferResponse",
        .query = QUERY_BIT(TENSOR) | QUERY_BIT(INTO)),
    ROW(GET, PAGE, "/", root_answer, "root", "A page for people, or the ways into the API",
        "Entries"),
    ROW(GET, INFO, "/v2", info_server, "server", "What this server is, and its limits", "Server"),
    ROW(GET, INFO, "/v2/", info_server, "server_slash", "The same", "Server"),
    ROW(GET, PROBE, "/v2/health/live", info_live, "live", "Whether the server lives", "Live"),
    ROW(GET, PROBE, "/livez", info_live, "livez", "The same", "Live"),
    ROW(GET, PROBE, "/v2/health/ready", info_ready, "ready", "Whether the server takes requests",
        "Ready", .may_be_503 = true),
    ROW(GET, PROBE, "/readyz", info_ready, "readyz", "The same", "Ready", .may_be_503 = true),
    ROW(GET, PROBE, "/healthz", info_ready, "healthz", "The same", "Ready", .may_be_503 = true),
    ROW(GET, INFO, "/v2/models", info_models, "models", "The operations, with an example of each",
        "Models"),
    ROW(GET, INFO, "/v2/models/stats", info_all_stats, "all_stats", "Statistics of all operations",
        "Stats"), /* before an operation of that name */
    ROW(GET, INFO, MODEL, info_model, "model", "What an operation takes and gives", "Model"),
    ROW(GET, PROBE, MODEL "/ready", info_model_ready, "model_ready",
        "Whether an operation is ready", "ModelReady", .may_be_503 = true),
    ROW(GET, INFO, MODEL "/config", info_model_config, "model_config",
        "Its configuration, as Triton says it", "Object"),
    ROW(GET, INFO, MODEL "/stats", info_model_stats, "model_stats", "Its statistics", "Stats"),
    ROW(POST, INFO, "/v2/repository/index", info_index, "index", "The list of operations", "List"),
    ROW(POST, INFO, "/v2/repository/models/{model}/load", info_not_supported, "load",
        "Not supported", NULL),
    ROW(POST, INFO, "/v2/repository/models/{model}/unload", info_not_supported, "unload",
        "Not supported", NULL),
    ROW(GET, LOOK, "/v2/tensors", tensors_list, "tensors", "The tensors that are kept", "Tensors",
        .query = QUERY_BIT(AFTER) | QUERY_BIT(LIMIT)),
    ROW(GET, LOOK, TENSOR, tensors_look, "tensor", "What is known of a kept tensor", "Tensor"),
    ROW(PUT, TENSOR, TENSOR, NULL, "put_tensor", "Keeps a tensor, or moves one here", "Tensor",
        .verb = VERB_PUT,
        .query = QUERY_BIT(DATATYPE) | QUERY_BIT(SHAPE) | QUERY_BIT(TTL) | QUERY_BIT(MOVE)),
    ROW(PATCH, TENSOR, TENSOR, NULL, "patch_tensor", "Sets a kept tensor's lease", "Tensor",
        .verb = VERB_PATCH),
    ROW(DELETE, TENSOR, TENSOR, NULL, "delete_tensor", "Drops a kept tensor", "Nothing",
        .verb = VERB_DROP),
    ROW(GET, TENSOR, TENSOR "/data", NULL, "tensor_data", "Its elements", "Data", .verb = VERB_READ,
        .query = QUERY_BIT(ROWS)),
    ROW(PUT, TENSOR, TENSOR "/data", NULL, "assign_rows", "Assigns rows of it", "Tensor",
        .verb = VERB_ASSIGN, .query = QUERY_BIT(ROWS) | QUERY_BIT(DATATYPE) | QUERY_BIT(SHAPE)),
    ROW(POST, TENSOR, TENSOR "/snapshot", NULL, "snapshot", "Writes it to its file", "Snapshot",
        .verb = VERB_SNAPSHOT),
    ROW(GET, LOOK, SYSTEM OR_REGION "/status", tensors_regions, "system_status",
        "The tensors that are kept, as regions", "List"),
    ROW(GET, INFO, CUDA OR_REGION "/status", info_empty_list, "cuda_status", "None", "List"),
    ROW(POST, INFO, SYSTEM OR_REGION "/unregister", info_empty_object, "system_unregister",
        "Nothing to do", "Object"),
    ROW(POST, INFO, CUDA OR_REGION "/unregister", info_empty_object, "cuda_unregister",
        "Nothing to do", "Object"),
    ROW(POST, INFO, SYSTEM REGION "/register", info_not_supported, "system_register",
        "Not supported", NULL),
    ROW(POST, INFO, CUDA REGION "/register", info_not_supported, "cuda_register", "Not supported",
        NULL),
    ROW(GET, INFO, "/v2/trace/setting", info_trace, "trace", "Tracing: off", "Object"),
    ROW(POST, INFO, "/v2/trace/setting", info_not_supported, "set_trace", "Not supported", NULL),
    ROW(GET, INFO, MODEL "/trace/setting", info_trace, "model_trace", "Tracing: off", "Object"),
    ROW(POST, INFO, MODEL "/trace/setting", info_not_supported, "set_model_trace", "Not supported",
        NULL),
    ROW(GET, INFO, "/v2/logging", info_logging, "logging", "Logging", "Object"),
    ROW(POST, INFO, "/v2/logging", info_not_supported, "set_logging", "Not supported", NULL),
    ROW(GET, METRICS, "/metrics", info_metrics, "metrics", "Metrics for Prometheus", "Metrics"),
    ROW(GET, INFO, "/openapi.json", info_openapi, "openapi", "This document", "Object"),
};

enum {
    ROUTES = sizeof routes / sizeof *routes,
    ANSWER_START_BYTES = 4096,
    ANSWER_MOST_BYTES = 4 << 20
};

static bool is_json(const struct reply *reply)
{
    return strcmp(reply->content_type, "application/json") == 0;
}

/* JSON gets a newline at its end. */
void route_call(struct call *call)
{
    for (size_t capacity = ANSWER_START_BYTES; capacity <= ANSWER_MOST_BYTES; capacity *= 4) {
        struct text text;
        char *memory = arena_get(call->arena, capacity);
        if (!memory)
            break;
        text_init(&text, memory, capacity);
        call->match->route->answer(call, &text);
        if (text.size == 0)
            return;
        if (is_json(call->reply))
            text_puts(&text, "\n");
        call->reply->data = text.data;
        call->reply->size = text.size;
        if (!text.cut)
            return;
    }
    error_no_memory(call->error);
}

int route_count(void)
{
    return ROUTES;
}

const struct route *route_at(int i)
{
    return &routes[i];
}
