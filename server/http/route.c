#include "server/http/route.h"

#include "server/http/info.h"
#include "server/http/root.h"

#include <stdio.h>
#include <string.h>

enum { GET = METHOD_GET, POST = METHOD_POST };

#define MODEL "/v2/models/{op}[/versions/{version}]"

static const struct route routes[] = {
    {POST, ROUTE_INFER, MODEL "/infer", NULL},
    {GET, ROUTE_PAGE, "/", root_answer},
    {GET, ROUTE_PROBE, "/v2/health/live", info_live},
    {GET, ROUTE_PROBE, "/livez", info_live},
    {GET, ROUTE_PROBE, "/v2/health/ready", info_ready},
    {GET, ROUTE_PROBE, "/readyz", info_ready},
    {GET, ROUTE_PROBE, "/healthz", info_ready},
    {GET, ROUTE_METRICS, "/metrics", info_metrics},
    {GET, ROUTE_PROBE, MODEL "/ready", info_model_ready},
    {GET, ROUTE_INFO, "/v2", info_server},
    {GET, ROUTE_INFO, "/v2/", info_server},
    {GET, ROUTE_INFO, "/v2/models", info_models},
    {GET, ROUTE_INFO, "/v2/models/stats", info_all_stats}, /* before the operation of that name */
    {GET, ROUTE_INFO, MODEL, info_model},
    {GET, ROUTE_INFO, MODEL "/config", info_model_config},
    {GET, ROUTE_INFO, MODEL "/stats", info_model_stats},
    {POST, ROUTE_INFO, "/v2/repository/index", info_index},
    {GET, ROUTE_INFO, "/v2/trace/setting", info_trace},
    {GET, ROUTE_INFO, MODEL "/trace/setting", info_trace},
    {GET, ROUTE_INFO, "/v2/logging", info_logging},
    {GET, ROUTE_INFO, "/openapi.json", info_openapi},
    {GET, ROUTE_INFO, "/v2/systemsharedmemory[/region/{region}]/status", info_empty_list},
    {GET, ROUTE_INFO, "/v2/cudasharedmemory[/region/{region}]/status", info_empty_list},
    {POST, ROUTE_INFO, "/v2/systemsharedmemory[/region/{region}]/unregister", info_empty_object},
    {POST, ROUTE_INFO, "/v2/cudasharedmemory[/region/{region}]/unregister", info_empty_object},
    {POST, ROUTE_INFO, "/v2/systemsharedmemory/region/{region}/register", info_not_supported},
    {POST, ROUTE_INFO, "/v2/cudasharedmemory/region/{region}/register", info_not_supported},
    {POST, ROUTE_INFO, "/v2/repository/models/{model}/load", info_not_supported},
    {POST, ROUTE_INFO, "/v2/repository/models/{model}/unload", info_not_supported},
    {POST, ROUTE_INFO, "/v2/trace/setting", info_not_supported},
    {POST, ROUTE_INFO, MODEL "/trace/setting", info_not_supported},
    {POST, ROUTE_INFO, "/v2/logging", info_not_supported},
};

static const struct {
    const char *name;
    enum method method;
} methods[] = {
    {"GET", METHOD_GET},
    {"HEAD", METHOD_HEAD},
    {"POST", METHOD_POST},
    {"OPTIONS", METHOD_OPTIONS},
};

enum { ROUTES = sizeof routes / sizeof *routes, METHODS = sizeof methods / sizeof *methods };

enum method method_parse(const char *name)
{
    for (int i = 0; i < METHODS; i++)
        if (strcmp(methods[i].name, name) == 0)
            return methods[i].method;
    return 0;
}

/* Takes one segment of the URL for the {name} at `pattern`; returns what follows the brace, or NULL
 * when the segment is empty. */
static const char *take_segment(struct route_match *match, const char *pattern, const char **url)
{
    const char *start = *url;
    size_t size = strcspn(start, "/");
    if (size == 0)
        return NULL;
    if (strncmp(pattern, "{op}", 4) == 0) {
        match->op = start;
        match->op_size = size;
    } else if (strncmp(pattern, "{version}", 9) == 0) {
        match->version = start;
        match->version_size = size;
    }
    *url = start + size;
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
    match->op = match->version = NULL;
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

static enum error_code find_model(const struct route_match *match, struct op_name *op,
                                  struct error *error)
{
    if (!match->op)
        return ERROR_NONE;
    if (!op_find(match->op, match->op_size, op))
        return error_set(error, ERROR_MODEL_NOT_FOUND, NULL,
                         "there is no operation '%.*s' (POST /v2/repository/index lists them)",
                         (int)(match->op_size < 100 ? match->op_size : 100), match->op);
    if (match->version && (match->version_size != 1 || *match->version != '1'))
        return error_set(error, ERROR_MODEL_NOT_FOUND, NULL,
                         "operation '%s' has no version '%.*s', only version 1", op->name,
                         (int)(match->version_size < 40 ? match->version_size : 40),
                         match->version);
    return ERROR_NONE;
}

/* The first row with this path and method; else match->allowed says which methods the path has. */
static const struct route *find_row(struct route_match *match, unsigned wanted, const char *url)
{
    unsigned allowed = 0;
    for (int i = 0; i < ROUTES; i++) {
        struct route_match found = {0};
        if (!matches(&found, routes[i].pattern, url))
            continue;
        if (allowed == 0 || routes[i].methods & wanted)
            *match = found;
        if (routes[i].methods & wanted)
            return &routes[i];
        allowed |= routes[i].methods;
    }
    match->allowed = allowed;
    return NULL;
}

enum error_code route_find(struct route_match *match, struct op_name *op, const char *method,
                           const char *url, struct error *error)
{
    enum method asked = method_parse(method);
    char allow[64];
    *match = (struct route_match){0};
    match->route = find_row(match, asked == METHOD_HEAD ? METHOD_GET : asked, url);
    if (!match->route && !match->allowed)
        return error_set(error, ERROR_NOT_FOUND, NULL, "there is nothing at %.200s", url);
    enum error_code code = find_model(match, op, error);
    if (code != ERROR_NONE || match->route)
        return code;
    match->allowed |= METHOD_OPTIONS | (match->allowed & METHOD_GET ? METHOD_HEAD : 0);
    if (asked == METHOD_OPTIONS)
        return ERROR_NONE;
    route_print_allow(match->allowed, allow);
    return error_set(error, ERROR_METHOD_NOT_ALLOWED, NULL, "the method is %.20s, %.200s takes %s",
                     method, url, allow);
}

void route_print_allow(unsigned allowed, char *text)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < METHODS; i++)
        if (allowed & methods[i].method)
            used += (size_t)sprintf(text + used, "%s%s", used ? ", " : "", methods[i].name);
}

int route_count(void)
{
    return ROUTES;
}

const struct route *route_at(int i)
{
    return &routes[i];
}
