#include "server/http/openapi.h"

#include "proto/answer/problem.h"
#include "server/http/openapi_components.h"
#include "server/http/route.h"

#include <ctype.h>
#include <string.h>

#define PARAMETER(NAME) "{'$ref':'#/components/parameters/" NAME "'}"
#define CONDITIONS      PARAMETER("if_match") "," PARAMETER("if_none_match")
#define KEYS            PARAMETER("key") "," PARAMETER("source") "," PARAMETER("position")
#define ANY_TENSOR                                                                                 \
    "'application/json':{'schema':{'$ref':'#/components/schemas/NewTensor'}},"                     \
    "'application/octet-stream':{},'application/vnd.safetensors':{}"

/* What an operation takes besides what its URL says, by its id. */
static const struct {
    const char *id, *headers, *content;
} requests[] = {
    {"infer", PARAMETER("header_length") "," CONDITIONS "," KEYS,
     "'application/json':{'schema':{'$ref':'#/components/schemas/InferRequest'}},"
     "'application/octet-stream':{},'application/vnd.safetensors':{},"
     "'application/safetensors':{},'application/x-safetensors':{}"},
    {"tensors", NULL, NULL},
    {"put_tensor", CONDITIONS "," KEYS, ANY_TENSOR},
    {"assign_rows", CONDITIONS "," KEYS, ANY_TENSOR},
    {"tensor_data", CONDITIONS, NULL},
    {"patch_tensor", CONDITIONS "," PARAMETER("key"),
     "'application/json':{'schema':{'type':'object','required':['ttl'],"
     "'additionalProperties':false,'properties':{'ttl':{'type':['string','null']}}}}"},
    {"delete_tensor", CONDITIONS "," PARAMETER("key"), NULL},
};

static void put_parameters(struct text *t, unsigned query, const char *headers)
{
    static const char *const names[] = {
#define X(ID, NAME, IS_NAME) PARAMETER(NAME "_query"),
        QUERY_TABLE(X)
#undef X
    };
    const char *separator = "";
    text_quoted(t, "'parameters':[");
    for (int key = 0; key < QUERY_COUNT; key++)
        if (query >> key & 1) {
            text_puts(t, separator);
            text_quoted(t, names[key]);
            separator = ",";
        }
    text_puts(t, headers ? separator : "");
    text_quoted(t, headers ? headers : "");
    text_puts(t, "],");
}

static void put_request(struct text *t, const struct route *route)
{
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        if (strcmp(requests[i].id, route->id) != 0)
            continue;
        put_parameters(t, route->query, requests[i].headers);
        if (!requests[i].content)
            return;
        text_quoted(t, route->kind == ROUTE_INFER ? "'requestBody':{'required':true,'content':{"
                                                  : "'requestBody':{'content':{");
        text_quoted(t, requests[i].content);
        text_puts(t, "}},");
    }
}

static bool needs_token(const struct route *route)
{
    return route->kind == ROUTE_INFER || route->kind == ROUTE_TENSOR || route->kind == ROUTE_LOOK;
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

static void put_responses(struct text *t, const struct route *route)
{
    text_quoted(t, "'responses':{");
    if (route->response)
        text_printf(t, "\"%s\":{\"$ref\":\"#/components/responses/%s\"},",
                    route->verb == VERB_DROP ? "204" : "200", route->response);
    if (route->kind == ROUTE_TENSOR && route->verb == VERB_PUT)
        text_printf(t, "\"201\":{\"$ref\":\"#/components/responses/%s\"},", route->response);
    if (route->may_be_503)
        text_printf(t, "\"503\":{\"$ref\":\"#/components/responses/%s\"},", route->response);
    text_quoted(t, "'default':{'$ref':'#/components/responses/Error'}");
    if (route->kind == ROUTE_INFER)
        put_error_statuses(t);
    text_puts(t, "}");
}

static void put_method(struct text *t, enum method method)
{
    text_puts(t, ",\"");
    for (const char *name = method_name(method); *name; name++)
        text_put(t, &(char){(char)tolower(*name)}, 1);
    text_puts(t, "\":{");
}

static void put_operation(struct text *t, const struct route *route, const char *suffix,
                          bool tokens)
{
    put_method(t, route->method);
    text_printf(t, "\"operationId\":\"%s%s\",\"summary\":\"%s\",", route->id, suffix,
                route->summary);
    put_request(t, route);
    if (needs_token(route) && tokens)
        text_quoted(t, "'security':[{'bearer':[]}],");
    put_responses(t, route);
    text_puts(t, "}");
    if (route->method == METHOD_GET)
        text_quoted(t, ",'head':{'summary':'GET without the body',"
                       "'responses':{'default':{'description':'As GET'}}}");
}

static bool is_same_pattern(int a, int b)
{
    return strcmp(route_at(a)->pattern, route_at(b)->pattern) == 0;
}

/* One path with all its methods, of which `first` is the first row. */
static void put_path(struct text *t, int first, const char *path, const char *suffix, bool tokens)
{
    text_printf(t, "%s\"%s\":{", t->data[t->size - 1] == '{' ? "" : ",", path);
    put_path_parameters(t, path);
    for (int i = first; i < route_count(); i++)
        if (is_same_pattern(i, first))
            put_operation(t, route_at(i), suffix, tokens);
    text_quoted(t, ",'options':{'summary':'The methods',"
                   "'responses':{'204':{'description':'In the header Allow'},"
                   "'default':{'$ref':'#/components/responses/Error'}}}}");
}

/* A pattern with an optional part is two paths. */
static void put_pattern(struct text *t, int first, bool tokens)
{
    char path[128];
    const char *pattern = route_at(first)->pattern, *open = strchr(pattern, '[');
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

static bool is_first_of_its_pattern(int row)
{
    for (int i = 0; i < row; i++)
        if (is_same_pattern(i, row))
            return false;
    return true;
}

static void put_paths(struct text *t, bool tokens)
{
    text_quoted(t, "'paths':{");
    for (int i = 0; i < route_count(); i++)
        if (is_first_of_its_pattern(i))
            put_pattern(t, i, tokens);
    text_puts(t, "},");
}

/* Only infer always needs a token where there are tokens; for other routes that depends on
 * settings. */
static void put_place(struct text *t, const struct openapi_server *server)
{
    if (server->base_path[0] != '\0') {
        text_quoted(t, "'servers':[{'url':");
        text_json(t, server->base_path, strlen(server->base_path));
        text_puts(t, "}],");
    }
    if (server->tokens)
        text_quoted(t, "'security':[{'bearer':[]},{}],");
}

void openapi_print(struct text *t, const struct openapi_server *server)
{
    text_quoted(t, "{'openapi':'3.1.0','info':{'title':'tensord','version':");
    text_json(t, server->version, strlen(server->version));
    text_puts(t, "},");
    put_place(t, server);
    put_paths(t, server->tokens);
    openapi_components(t, server->tokens);
    text_puts(t, "}");
}
