#include "proto/answer/describe.h"

#include "proto/answer/describe_components.h"
#include "proto/answer/problem.h"

#include <string.h>

#define MODEL "/v2/models/{op}[/versions/{version}]"

/* What can be asked for. Rows of one pattern stand together. `answer` names an answer of
 * describe_components.c; NULL: there is only an error. */
static const struct {
    const char *method, *pattern, *id, *summary, *answer;
} routes[] = {
    {"post", MODEL "/infer", "infer", "Runs an operation", "InferResponse"},
    {"get", "/", "root", "A page for people, or the ways into the API", "Entries"},
    {"get", "/v2", "server", "What this server is, and its limits", "Server"},
    {"get", "/v2/", "server_slash", "The same", "Server"},
    {"get", "/v2/health/live", "live", "Whether the server lives", "Live"},
    {"get", "/livez", "livez", "The same", "Live"},
    {"get", "/v2/health/ready", "ready", "Whether the server takes requests", "Ready"},
    {"get", "/readyz", "readyz", "The same", "Ready"},
    {"get", "/healthz", "healthz", "The same", "Ready"},
    {"get", "/v2/models", "models", "The operations, with an example of each", "Models"},
    {"get", "/v2/models/stats", "all_stats", "Statistics of all operations", "Stats"},
    {"get", MODEL, "model", "What an operation takes and gives", "Model"},
    {"get", MODEL "/ready", "model_ready", "Whether an operation is ready", "ModelReady"},
    {"get", MODEL "/config", "model_config", "Its configuration, as Triton says it", "Object"},
    {"get", MODEL "/stats", "model_stats", "Its statistics", "Stats"},
    {"post", "/v2/repository/index", "index", "The list of operations", "List"},
    {"post", "/v2/repository/models/{model}/load", "load", "Not supported", NULL},
    {"post", "/v2/repository/models/{model}/unload", "unload", "Not supported", NULL},
    {"get", "/v2/systemsharedmemory[/region/{region}]/status", "system_status", "None", "List"},
    {"get", "/v2/cudasharedmemory[/region/{region}]/status", "cuda_status", "None", "List"},
    {"post", "/v2/systemsharedmemory[/region/{region}]/unregister", "system_unregister",
     "Nothing to do", "Object"},
    {"post", "/v2/cudasharedmemory[/region/{region}]/unregister", "cuda_unregister",
     "Nothing to do", "Object"},
    {"post", "/v2/systemsharedmemory/region/{region}/register", "system_register", "Not supported",
     NULL},
    {"post", "/v2/cudasharedmemory/region/{region}/register", "cuda_register", "Not supported",
     NULL},
    {"get", "/v2/trace/setting", "trace", "Tracing: off", "Object"},
    {"post", "/v2/trace/setting", "set_trace", "Not supported", NULL},
    {"get", MODEL "/trace/setting", "model_trace", "Tracing: off", "Object"},
    {"post", MODEL "/trace/setting", "set_model_trace", "Not supported", NULL},
    {"get", "/v2/logging", "logging", "Logging", "Object"},
    {"post", "/v2/logging", "set_logging", "Not supported", NULL},
    {"get", "/metrics", "metrics", "Metrics for Prometheus", "Metrics"},
    {"get", "/openapi.json", "openapi", "This document", "Object"},
};

enum { ROUTE_COUNT = sizeof(routes) / sizeof(routes[0]) };

static const char infer_request[] =
    "'parameters':[{'$ref':'#/components/parameters/header_length'}],"
    "'requestBody':{'required':true,'content':{"
    "'application/json':{'schema':{'$ref':'#/components/schemas/InferRequest'}},"
    "'application/octet-stream':{},'application/vnd.safetensors':{},"
    "'application/safetensors':{},'application/x-safetensors':{}}},";

int describe_route_count(void)
{
    return ROUTE_COUNT;
}

struct described_route describe_route(int i)
{
    return (struct described_route){routes[i].method, routes[i].pattern};
}

/* {NAME} of the path as parameters of the path item. */
static void put_path_parameters(struct text *t, const char *path)
{
    const char *separator = "";
    text_quoted(t, "'parameters':[");
    for (const char *brace = path; (brace = strchr(brace, '{')); brace++) {
        int size = (int)strcspn(brace + 1, "}");
        text_printf(t, "%s{\"$ref\":\"#/components/parameters/%.*s\"}", separator, size, brace + 1);
        separator = ",";
    }
    text_puts(t, "]");
}

/* Every status that an error can have, with its codes. */
static void put_error_statuses(struct text *t)
{
    for (int status = 400; status < 600; status++) {
        const char *separator = "";
        for (int code = ERROR_NONE + 1; code < ERROR_CANCELLED; code++) {
            if (problem_status((enum error_code)code) != status)
                continue;
            if (*separator == '\0')
                text_printf(t,
                            ",\"%d\":{\"$ref\":\"#/components/responses/Error\","
                            "\"description\":\"",
                            status);
            text_printf(t, "%s%s", separator, error_name((enum error_code)code));
            separator = " ";
        }
        text_puts(t, *separator == '\0' ? "" : "\"}");
    }
}

static void put_responses(struct text *t, int route)
{
    const char *answer = routes[route].answer;
    text_quoted(t, "'responses':{");
    if (answer)
        text_printf(t, "\"200\":{\"$ref\":\"#/components/responses/%s\"},", answer);
    if (answer && (strcmp(answer, "Ready") == 0 || strcmp(answer, "ModelReady") == 0))
        text_printf(t, "\"503\":{\"$ref\":\"#/components/responses/%s\"},", answer);
    text_quoted(t, "'default':{'$ref':'#/components/responses/Error'}");
    if (route == 0)
        put_error_statuses(t);
    text_puts(t, "}");
}

static void put_operation(struct text *t, int route, const char *suffix, bool tokens)
{
    bool get = strcmp(routes[route].method, "get") == 0;
    text_printf(t, ",\"%s\":{\"operationId\":\"%s%s\",\"summary\":\"%s\",", routes[route].method,
                routes[route].id, suffix, routes[route].summary);
    if (route == 0)
        text_quoted(t, infer_request);
    if (route == 0 && tokens)
        text_quoted(t, "'security':[{'bearer':[]}],");
    put_responses(t, route);
    text_puts(t, "}");
    if (get)
        text_quoted(t, ",'head':{'summary':'GET without the body',"
                       "'responses':{'default':{'description':'As GET'}}}");
}

/* One path with all its methods: rows from `first` on that have its pattern. */
static void put_path(struct text *t, int first, const char *path, const char *suffix, bool tokens)
{
    text_printf(t, "%s\"%s\":{", t->data[t->size - 1] == '{' ? "" : ",", path);
    put_path_parameters(t, path);
    for (int i = first; i < ROUTE_COUNT; i++)
        if (strcmp(routes[i].pattern, routes[first].pattern) == 0)
            put_operation(t, i, suffix, tokens);
    text_quoted(t, ",'options':{'summary':'The methods',"
                   "'responses':{'204':{'description':'In the header Allow'},"
                   "'default':{'$ref':'#/components/responses/Error'}}}}");
}

/* A pattern with an optional part is two paths. */
static void put_pattern(struct text *t, int first, bool tokens)
{
    char path[128];
    const char *pattern = routes[first].pattern, *open = strchr(pattern, '[');
    struct text p;
    text_init(&p, path, sizeof(path));
    if (!open) {
        put_path(t, first, pattern, "", tokens);
        return;
    }
    const char *close = strchr(open, ']');
    text_put(&p, pattern, (size_t)(open - pattern));
    text_puts(&p, close + 1);
    put_path(t, first, path, "", tokens);
    text_init(&p, path, sizeof(path));
    text_put(&p, pattern, (size_t)(open - pattern));
    text_put(&p, open + 1, (size_t)(close - open - 1));
    text_puts(&p, close + 1);
    put_path(t, first, path, "_in_full", tokens);
}

static void put_paths(struct text *t, bool tokens)
{
    text_quoted(t, "'paths':{");
    for (int i = 0; i < ROUTE_COUNT; i++)
        if (i == 0 || strcmp(routes[i].pattern, routes[i - 1].pattern) != 0)
            put_pattern(t, i, tokens);
    text_puts(t, "},");
}

/* Infer needs a token where there are tokens; what else does is a matter of settings. */
static void put_place(struct text *t, const struct described_server *server)
{
    if (server->base_path[0] != '\0') {
        text_quoted(t, "'servers':[{'url':");
        text_json(t, server->base_path, strlen(server->base_path));
        text_puts(t, "}],");
    }
    if (server->tokens)
        text_quoted(t, "'security':[{'bearer':[]},{}],");
}

void describe_openapi(struct text *t, const struct described_server *server)
{
    text_quoted(t, "{'openapi':'3.1.0','info':{'title':'tensord','version':");
    text_json(t, server->version, strlen(server->version));
    text_puts(t, "},");
    put_place(t, server);
    put_paths(t, server->tokens);
    describe_components(t, server->tokens);
    text_puts(t, "}");
}
