#include "proto/describe.h"

#include "proto/problem.h"

#include <string.h>

#define MODEL "/v2/models/{op}[/versions/{version}]"

/* What can be asked for. Rows of one pattern stand together. `answer` names a row of answers; NULL:
 * there is only an error. */
static const struct {
    const char *method, *pattern, *id, *summary, *answer;
} routes[] = {
    {"post", MODEL "/infer", "infer", "Runs an operation", "InferResponse"},
    {"get", "/v2", "server", "What this server is, and its limits", "Server"},
    {"get", "/v2/", "server_slash", "The same", "Server"},
    {"get", "/v2/health/live", "live", "Whether the server lives", "Live"},
    {"get", "/livez", "livez", "The same", "Live"},
    {"get", "/v2/health/ready", "ready", "Whether the server takes requests", "Ready"},
    {"get", "/readyz", "readyz", "The same", "Ready"},
    {"get", "/healthz", "healthz", "The same", "Ready"},
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

static const struct {
    const char *name, *media, *schema;
} answers[] = {
    {"Server", "application/json",
     "{'type':'object','required':['name','version','extensions','limits']}"},
    {"Live", "application/json", "{'type':'object','required':['live']}"},
    {"Ready", "application/json", "{'type':'object','required':['live','ready']}"},
    {"Stats", "application/json", "{'type':'object','required':['model_stats']}"},
    {"Model", "application/json",
     "{'type':'object','required':['name','versions','platform','inputs','outputs']}"},
    {"ModelReady", "application/json", "{'type':'object','required':['name','ready']}"},
    {"Object", "application/json", "{'type':'object'}"},
    {"List", "application/json", "{'type':'array'}"},
    {"Metrics", "text/plain", "{'type':'string'}"},
};

/* What a segment of a URL may be; a blank or a control character is refused in all of it. */
#define ANY_SEGMENT "'schema':{'type':'string','pattern':'^[^/\\\\x00-\\\\x20\\\\x7f]+$'}},"

static const char parameters[] =
    ",'version':{'name':'version','in':'path','required':true,'schema':{'enum':['1']}},"
    "'model':{'name':'model','in':'path','required':true," ANY_SEGMENT
    "'region':{'name':'region','in':'path','required':true," ANY_SEGMENT
    "'header_length':{'name':'Inference-Header-Content-Length','in':'header',"
    "'description':'Size of the JSON; raw tensors follow it. Absent: all of the body is JSON',"
    "'schema':{'type':'integer','minimum':1}}}";

static const char schemas[] =
    "'schemas':{"
    "'Error':{'type':'object','required':['error'],'additionalProperties':false,"
    "'properties':{'error':{'type':'string','description':'CODE: sentence'}}},"
    "'Problem':{'type':'object','required':['type','title','status','detail','error','code'],"
    "'properties':{'type':{'type':'string'},'title':{'type':'string'},"
    "'status':{'type':'integer'},'detail':{'type':'string'},'instance':{'type':'string'},"
    "'error':{'type':'string'},'code':{'$ref':'#/components/schemas/Code'},"
    "'errors':{'type':'array','items':{'type':'object'}},'invalid_count':{}}},"
    "'InferRequest':{'type':'object','required':['inputs'],'properties':{"
    "'id':{'type':['string','null'],'description':'At most 256 bytes, echoed'},"
    "'inputs':{'type':['array','object'],"
    "'description':'Tensors; the short form is an object of nested arrays by name',"
    "'items':{'$ref':'#/components/schemas/Input'}},"
    "'outputs':{'type':['array','null'],'maxItems':1,'items':{'type':'object',"
    "'required':['name'],'properties':{'name':{'const':'output'},"
    "'parameters':{'type':['object','null'],"
    "'properties':{'binary_data':{'type':['boolean','null']}}}}}},"
    "'parameters':{'type':['object','null'],'properties':{"
    "'bad_indices_policy':{'enum':['','DEFAULT','ERROR','IGNORE',null]},"
    "'device':{'type':['string','null'],'description':'auto, cpu, cuda or cuda:N'},"
    "'timeout':{'type':['integer','null'],'minimum':0,'description':'Microseconds'},"
    "'json_nonfinite':{'enum':['error','token','string','null',null]},"
    "'binary_data_output':{'type':['boolean','null']}}}}},"
    "'Input':{'type':'object','required':['name'],'properties':{'name':{'type':'string'},"
    "'datatype':{'type':['string','null']},'shape':{'type':['array','null'],'maxItems':16,"
    "'items':{'type':'integer','minimum':0}},'data':{'description':'Flat, or nested as shape'},"
    "'parameters':{'type':['object','null'],"
    "'properties':{'binary_data_size':{'type':['integer','null'],'minimum':0}}}}},"
    "'InferResponse':{'type':'object','required':['model_name','model_version','outputs'],"
    "'additionalProperties':false,'properties':{'model_name':{'type':'string'},"
    "'model_version':{'const':'1'},'id':{'type':'string'},"
    "'parameters':{'type':'object','properties':{'ignored_indices':{'type':'integer'}}},"
    "'outputs':{'type':'array','items':{'type':'object','required':['name','datatype','shape'],"
    "'properties':{'name':{'const':'output'},'datatype':{'type':'string'},"
    "'shape':{'type':'array','items':{'type':'integer'}},'data':{'type':'array'},"
    "'parameters':{'type':'object'}}}}}},";

static const char error_answer[] =
    "'Error':{'description':'A mistake, and which','headers':{'Error-Code':"
    "{'schema':{'$ref':'#/components/schemas/Code'}}},'content':{"
    "'application/json':{'schema':{'$ref':'#/components/schemas/Error'}},"
    "'application/problem+json':{'schema':{'$ref':'#/components/schemas/Problem'}}}}";

static const char infer_answer[] =
    "'InferResponse':{'description':'The result','headers':{'Inference-Header-Content-Length':"
    "{'description':'Of a binary answer: size of the JSON in front of the tensor',"
    "'schema':{'type':'integer'}}},'content':{"
    "'application/json':{'schema':{'$ref':'#/components/schemas/InferResponse'}},"
    "'application/octet-stream':{},'application/vnd.safetensors':{},"
    "'application/safetensors':{},'application/x-safetensors':{}}},";

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

static void put_operation(struct text *t, int route, const char *suffix)
{
    bool get = strcmp(routes[route].method, "get") == 0;
    text_printf(t, ",\"%s\":{\"operationId\":\"%s%s\",\"summary\":\"%s\",", routes[route].method,
                routes[route].id, suffix, routes[route].summary);
    if (route == 0)
        text_quoted(t, infer_request);
    put_responses(t, route);
    text_puts(t, "}");
    if (get)
        text_quoted(t, ",'head':{'summary':'GET without the body',"
                       "'responses':{'default':{'description':'As GET'}}}");
}

/* One path with all its methods: rows from `first` on that have its pattern. */
static void put_path(struct text *t, int first, const char *path, const char *suffix)
{
    text_printf(t, "%s\"%s\":{", t->data[t->size - 1] == '{' ? "" : ",", path);
    put_path_parameters(t, path);
    for (int i = first; i < ROUTE_COUNT; i++)
        if (strcmp(routes[i].pattern, routes[first].pattern) == 0)
            put_operation(t, i, suffix);
    text_quoted(t, ",'options':{'summary':'The methods',"
                   "'responses':{'204':{'description':'In the header Allow'},"
                   "'default':{'$ref':'#/components/responses/Error'}}}}");
}

/* A pattern with an optional part is two paths. */
static void put_pattern(struct text *t, int first)
{
    char path[128];
    const char *pattern = routes[first].pattern, *open = strchr(pattern, '[');
    struct text p;
    text_init(&p, path, sizeof(path));
    if (!open) {
        put_path(t, first, pattern, "");
        return;
    }
    const char *close = strchr(open, ']');
    text_put(&p, pattern, (size_t)(open - pattern));
    text_puts(&p, close + 1);
    put_path(t, first, path, "");
    text_init(&p, path, sizeof(path));
    text_put(&p, pattern, (size_t)(open - pattern));
    text_put(&p, open + 1, (size_t)(close - open - 1));
    text_puts(&p, close + 1);
    put_path(t, first, path, "_in_full");
}

static void put_paths(struct text *t)
{
    text_quoted(t, "'paths':{");
    for (int i = 0; i < ROUTE_COUNT; i++)
        if (i == 0 || strcmp(routes[i].pattern, routes[i - 1].pattern) != 0)
            put_pattern(t, i);
    text_puts(t, "},");
}

static void put_op_names(struct text *t)
{
    const char *separator = "";
    text_quoted(t, "'op':{'name':'op','in':'path','required':true,'schema':{'enum':[");
    for (int i = 0; i < op_count(); i++) {
        for (const struct op_alias *name = op_at(i)->names; name->text; name++) {
            text_printf(t, "%s\"%s\"", separator, name->text);
            separator = ",";
        }
    }
    text_puts(t, "]}}");
}

static void put_codes(struct text *t)
{
    text_quoted(t, "'Code':{'enum':[");
    for (int code = ERROR_NONE + 1; code < ERROR_CANCELLED; code++)
        text_printf(t, "%s\"%s\"", code > ERROR_NONE + 1 ? "," : "",
                    error_name((enum error_code)code));
    text_puts(t, "]}},");
}

static void put_answers(struct text *t)
{
    text_quoted(t, "'responses':{");
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        text_printf(t, "\"%s\":{\"description\":\"%s\",\"content\":{\"%s\":{\"schema\":",
                    answers[i].name, answers[i].name, answers[i].media);
        text_quoted(t, answers[i].schema);
        text_puts(t, "}}},");
    }
    text_quoted(t, infer_answer);
    text_quoted(t, error_answer);
    text_puts(t, "}}");
}

void describe_openapi(struct text *t, const char *version)
{
    text_quoted(t, "{'openapi':'3.1.0','info':{'title':'tensord','version':");
    text_json(t, version, strlen(version));
    text_puts(t, "},");
    put_paths(t);
    text_quoted(t, "'components':{'parameters':{");
    put_op_names(t);
    text_quoted(t, parameters);
    text_puts(t, ",");
    text_quoted(t, schemas);
    put_codes(t);
    put_answers(t);
    text_puts(t, "}");
}
