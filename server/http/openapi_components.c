#include "server/http/openapi_components.h"

#include "kernels/error.h"
#include "kernels/op.h"

static const struct {
    const char *name, *media, *schema;
} answers[] = {
    {"Server", "application/json",
     "{'type':'object','required':['name','version','extensions','limits']}"},
    {"Live", "application/json", "{'type':'object','required':['live']}"},
    {"Ready", "application/json", "{'type':'object','required':['live','ready']}"},
    {"Entries", "application/json", "{'type':'object','required':['name','version']}"},
    {"Models", "application/json", "{'type':'object','required':['models','examples']}"},
    {"Stats", "application/json", "{'type':'object','required':['model_stats']}"},
    {"Model", "application/json",
     "{'type':'object','required':['name','versions','platform','inputs','outputs']}"},
    {"ModelReady", "application/json", "{'type':'object','required':['name','ready']}"},
    {"Object", "application/json", "{'type':'object'}"},
    {"List", "application/json", "{'type':'array'}"},
    {"Metrics", "text/plain", "{'type':'string'}"},
    {"Tensor", "application/json", "{'$ref':'#/components/schemas/Tensor'}"},
    {"Snapshot", "application/json",
     "{'type':'object','required':['name','file','bytes','version','etag']}"},
    {"Tensors", "application/json",
     "{'type':'object','required':['positions','tensors','next'],'properties':{"
     "'positions':{'type':'object','description':'How far the server has come with each "
     "Update-Source','additionalProperties':{'type':'string'}},'tensors':{'type':'array',"
     "'items':{'$ref':'#/components/schemas/Tensor'}},'next':{'type':['string','null']}}}"},
};

/* What a segment of a URL may be; a blank or a control character is refused in all of it. */
#define ANY_SEGMENT "'schema':{'type':'string','pattern':'^[^/\\\\x00-\\\\x20\\\\x7f]+$'}},"

#define TENSOR_NAME                                                                                \
    "'schema':{'type':'string','pattern':'^[A-Za-z0-9_-][A-Za-z0-9_.-]*$','minLength':1,"          \
    "'maxLength':128}"

static const char parameters[] =
    ",'version':{'name':'version','in':'path','required':true,'schema':{'enum':['1']}},"
    "'model':{'name':'model','in':'path','required':true," ANY_SEGMENT
    "'region':{'name':'region','in':'path','required':true," ANY_SEGMENT
    "'tensor':{'name':'tensor','in':'path','required':true," TENSOR_NAME "},"
    "'tensor_query':{'name':'tensor','in':'query','description':'The kept tensor that is the "
    "table'," TENSOR_NAME "},"
    "'into_query':{'name':'into','in':'query','description':'The kept tensor that the result "
    "becomes'," TENSOR_NAME "},"
    "'move_query':{'name':'move','in':'query','description':'The kept tensor that takes this "
    "name; no body then'," TENSOR_NAME "},"
    "'datatype_query':{'name':'datatype','in':'query','description':'With shape: the body is the "
    "raw elements','schema':{'type':'string'}},"
    "'shape_query':{'name':'shape','in':'query','description':'Such as 1000,64',"
    "'schema':{'type':'string'}},"
    "'rows_query':{'name':'rows','in':'query','description':'a:b, the rows a to b - 1',"
    "'schema':{'type':'string','pattern':'^[0-9]+:[0-9]+$'}},"
    "'ttl_query':{'name':'ttl','in':'query','description':'Lease, such as 600s or 1h',"
    "'schema':{'type':'string'}},"
    "'after_query':{'name':'after','in':'query','description':'The list begins after this "
    "name'," TENSOR_NAME "},"
    "'limit_query':{'name':'limit','in':'query',"
    "'schema':{'type':'integer','minimum':1,'maximum':1000}},"
    "'if_match':{'name':'If-Match','in':'header','schema':{'type':'string'}},"
    "'if_none_match':{'name':'If-None-Match','in':'header','schema':{'type':'string'}},"
    "'key':{'name':'Idempotency-Key','in':'header','description':'Repeated with the same request, "
    "the write is applied once','schema':{'type':'string','minLength':1,'maxLength':255}},"
    "'source':{'name':'Update-Source','in':'header','description':'Whose log the write is from',"
    "'schema':{'type':'string'}},"
    "'position':{'name':'Update-Position','in':'header','description':'Its place there, 17-0',"
    "'schema':{'type':'string'}},"
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
    "'binary_data_output':{'type':['boolean','null']},"
    "'tensor':{'type':['string','null'],'description':'A kept tensor: the table'},"
    "'into':{'type':['string','null'],'description':'A kept tensor: the result'}}}}},"
    "'Input':{'type':'object','required':['name'],'properties':{'name':{'type':'string'},"
    "'datatype':{'type':['string','null']},'shape':{'type':['array','null'],'maxItems':16,"
    "'items':{'type':'integer','minimum':0}},'data':{'description':'Flat, or nested as shape'},"
    "'parameters':{'type':['object','null'],"
    "'properties':{'binary_data_size':{'type':['integer','null'],'minimum':0}}}}},"
    "'NewTensor':{'type':'object','properties':{'datatype':{'type':'string'},"
    "'shape':{'type':'array','maxItems':16,'items':{'type':'integer','minimum':0}},"
    "'data':{'description':'Flat, or nested as shape; absent: zeros'}}},"
    "'Tensor':{'type':'object','required':['name','datatype','shape','bytes','version',"
    "'generation','etag','created','used','expires','snapshot_version','read_only','device'],"
    "'properties':{'name':{'type':'string'},'datatype':{'type':'string'},"
    "'shape':{'type':'array','items':{'type':'integer'}},'bytes':{'type':'integer'},"
    "'version':{'type':'integer','minimum':1},'generation':{'type':'string'},"
    "'etag':{'type':'string'},'created':{'type':'string'},'used':{'type':'string'},"
    "'expires':{'type':['string','null']},'snapshot_version':{'type':['integer','null']},"
    "'read_only':{'type':'boolean'},'device':{'type':'string'},"
    "'positions':{'type':'object','additionalProperties':{'type':'string'},"
    "'description':'Up to where each Update-Source was applied; told of one tensor alone'}}},"
    "'InferResponse':{'type':'object','required':['model_name','model_version','outputs'],"
    "'additionalProperties':false,'properties':{'model_name':{'type':'string'},"
    "'model_version':{'const':'1'},'id':{'type':'string'},"
    "'parameters':{'type':'object','properties':{'ignored_indices':{'type':'integer'},"
    "'tensor_version':{'type':'integer'},'tensor_etag':{'type':'string'},"
    "'into_version':{'type':'integer'},'into_etag':{'type':'string'}}},"
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

static const char tensor_answers[] =
    "'Nothing':{'description':'Done'},"
    "'Data':{'description':'The elements','headers':{'ETag':{'schema':{'type':'string'}}},"
    "'content':{'application/vnd.safetensors':{},'application/octet-stream':{},"
    "'application/json':{'schema':{'type':'object','required':['datatype','shape','data']}}}},";

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
    text_quoted(t, tensor_answers);
    text_quoted(t, infer_answer);
    text_quoted(t, error_answer);
    text_puts(t, "}");
}

void openapi_components(struct text *t, bool tokens)
{
    text_quoted(t, "'components':{'parameters':{");
    put_op_names(t);
    text_quoted(t, parameters);
    text_puts(t, ",");
    text_quoted(t, schemas);
    put_codes(t);
    put_answers(t);
    if (tokens)
        text_quoted(t, ",'securitySchemes':{'bearer':{'type':'http','scheme':'bearer'}}");
    text_puts(t, "}");
}
