#include "proto/answer/describe.h"

#include <string.h>

static void put_devices(struct text *t, int cuda_devices)
{
    text_quoted(t, "'devices':['cpu'");
    for (int i = 0; i < cuda_devices; i++)
        text_printf(t, ",\"cuda:%d\"", i);
    text_puts(t, "]");
}

void describe_server(struct text *t, const char *version, const struct request_rules *rules,
                     bool keeps_tensors)
{
    text_quoted(t, "{'name':'tensord','version':");
    text_json(t, version, strlen(version));
    text_quoted(t, ",'extensions':['binary_tensor_data','parameters','statistics',"
                   "'model_configuration','model_repository','schedule_policy'");
    text_quoted(t, keeps_tensors ? ",'resident_tensors']," : "],");
    text_printf(t,
                "\"limits\":{\"max_body\":%zu,\"max_json\":%zu,\"max_output\":%zu,"
                "\"max_rank\":%d},",
                rules->body_limit, rules->json_limit, rules->output_limit, RANK_MAX);
    put_devices(t, rules->cuda_devices);
    text_puts(t, "}");
}

void describe_index(struct text *t, bool ready)
{
    text_puts(t, "[");
    for (int i = 0; i < op_count(); i++) {
        text_printf(t, "%s{\"name\":\"%s\",", i > 0 ? "," : "", op_at(i)->name);
        text_quoted(t, ready ? "'version':'1','state':'READY','reason':''}"
                             : "'version':'1','state':'UNAVAILABLE','reason':'draining'}");
    }
    text_puts(t, "]");
}

void describe_trace(struct text *t)
{
    text_quoted(t, "{'trace_file':'','trace_level':['OFF'],'trace_rate':'0','trace_count':'0',"
                   "'log_frequency':'0','trace_mode':'triton'}");
}

void describe_logging(struct text *t)
{
    text_quoted(t, "{'log_file':'','log_info':false,'log_warning':false,'log_error':false,"
                   "'log_verbose_level':0,'log_format':'default'}");
}
