#include "server/http/route.h"

#include "server/base/exhausted.h"
#include "server/http/info.h"
#include "server/http/root.h"
#include "server/http/route_hint.h"
#include "server/http/tensors.h"

#include <stdio.h>
#include <stdlib.h>
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

static const struct {
    const char *name;
    enum method method;
} methods[] = {
#define X(NAME, BIT) {#NAME, METHOD_##NAME},
    METHOD_TABLE(X)
#undef X
};

static const char *const segment_names[] = {
#define X(ID, NAME) [SEGMENT_##ID] = NAME,
    SEGMENT_TABLE(X)
#undef X
};

enum {
    ROUTES = sizeof routes / sizeof *routes,
    METHODS = sizeof methods / sizeof *methods,
    ANSWER_START_BYTES = 4096,
    ANSWER_MOST_BYTES = 4 << 20
};

enum method method_parse(const char *name)
{
    for (int i = 0; i < METHODS; i++)
        if (strcmp(methods[i].name, name) == 0)
            return methods[i].method;
    return 0;
}

const char *method_name(enum method method)
{
    for (int i = 0; i < METHODS; i++)
        if (methods[i].method == method)
            return methods[i].name;
    return "other";
}

/* The number of the name that begins at `name` and ends at a brace. */
static enum segment_name find_segment(const char *name)
{
    for (int i = 0; i < SEGMENT_COUNT; i++) {
        size_t size = strlen(segment_names[i]);
        if (strncmp(name, segment_names[i], size) == 0 && name[size] == '}')
            return (enum segment_name)i;
    }
    abort(); /* a row names a segment that SEGMENT_TABLE has not */
}

/* Takes one segment of the URL for the {name} at `pattern`; returns what follows the brace, or NULL
 * when the segment is empty. */
static const char *take_segment(struct route_match *match, const char *pattern, const char **url)
{
    struct segment segment = {*url, strcspn(*url, "/")};
    if (segment.size == 0)
        return NULL;
    match->segments[find_segment(pattern + 1)] = segment;
    *url += segment.size;
    return strchr(pattern, '}') + 1;
}

/* The optional part is there iff its fixed beginning is. */
static const char *enter_or_skip(const char *pattern, const char *url)
{
    size_t fixed = strcspn(pattern + 1, "{]");
    return strncmp(pattern + 1, url, fixed) == 0 ? pattern + 1 : strchr(pattern, ']') + 1;
}

static bool matches(struct route_match *match, const char *pattern, const char *url)
{
    while (*pattern) {
        if (*pattern == '{') {
            pattern = take_segment(match, pattern, &url);
            if (!pattern)
                return false;
        } else if (*pattern == '[') {
            pattern = enter_or_skip(pattern, url);
        } else if (*pattern == ']') {
            pattern++;
        } else if (*pattern++ != *url++) {
            return false;
        }
    }
    return *url == '\0';
}

/* How many bytes of a segment a sentence shows. */
static int printed_size(struct segment segment)
{
    return segment.size < 100 ? (int)segment.size : 100;
}

static enum error_code no_operation(struct segment op, struct error *error)
{
    const char *like = route_hint_operation(op.text, op.size);
    return error_set(error, ERROR_MODEL_NOT_FOUND, NULL,
                     "there is no operation '%.*s'%s%s%s (GET /v2/models lists them)",
                     printed_size(op), op.text, like ? "; did you mean '" : "", like ? like : "",
                     like ? "'?" : "");
}

static enum error_code find_model(struct route_match *match, struct error *error)
{
    struct segment op = match->segments[SEGMENT_OP], version = match->segments[SEGMENT_VERSION];
    if (!op.text)
        return ERROR_NONE;
    if (!op_find(op.text, op.size, &match->op_name))
        return no_operation(op, error);
    if (version.text && (version.size != 1 || *version.text != '1'))
        return error_set(error, ERROR_MODEL_NOT_FOUND, NULL,
                         "operation '%s' has no version '%.*s', only version 1",
                         match->op_name.name, printed_size(version), version.text);
    return ERROR_NONE;
}

static enum error_code check_tensor(const struct route_match *match, struct error *error)
{
    struct segment name = match->segments[SEGMENT_TENSOR];
    if (!name.text || tensor_name_is_legal(name.text, name.size))
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "'%.*s' is no tensor's name; that is " TENSOR_NAME_RULE, printed_size(name),
                     name.text);
}

/* The first row with this path and method; else match->allowed says which methods the path has. */
static const struct route *find_row(struct route_match *match, unsigned wanted, const char *url)
{
    unsigned allowed = 0;
    for (int i = 0; i < ROUTES; i++) {
        struct route_match found = {0};
        if (!matches(&found, routes[i].pattern, url))
            continue;
        if (allowed == 0 || routes[i].method & wanted)
            *match = found;
        if (routes[i].method & wanted)
            return &routes[i];
        allowed |= routes[i].method;
    }
    match->allowed = allowed;
    return NULL;
}

enum error_code route_find(struct route_match *match, const char *method, const char *url,
                           struct error *error)
{
    enum method asked = method_parse(method);
    char allow[64];
    *match = (struct route_match){0};
    match->route = find_row(match, asked == METHOD_HEAD ? METHOD_GET : asked, url);
    if (!match->route && !match->allowed) {
        char hint[ROUTE_HINT_MAX];
        return error_set(error, ERROR_NOT_FOUND, NULL, "there is nothing at %.200s; %s", url,
                         route_hint(url, hint));
    }
    enum error_code code = find_model(match, error);
    if (code == ERROR_NONE)
        code = check_tensor(match, error);
    if (code != ERROR_NONE || match->route)
        return code;
    match->allowed |= METHOD_OPTIONS | (match->allowed & METHOD_GET ? METHOD_HEAD : 0);
    if (asked == METHOD_OPTIONS)
        return ERROR_NONE;
    route_print_allow(match->allowed, allow);
    return error_set(error, ERROR_METHOD_NOT_ALLOWED, NULL, "the method is %.20s, %.200s takes %s",
                     method, url, allow);
}

bool route_exists(const char *url)
{
    struct route_match match = {0};
    return find_row(&match, ~0u, url) != NULL;
}

void route_tensor(const struct route_match *match, char *name)
{
    struct segment segment = match->segments[SEGMENT_TENSOR];
    memcpy(name, segment.text, segment.size);
    name[segment.size] = '\0';
}

void route_print_allow(unsigned allowed, char *text)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < METHODS; i++)
        if (allowed & methods[i].method)
            used += (size_t)sprintf(text + used, "%s%s", used ? ", " : "", methods[i].name);
}

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
