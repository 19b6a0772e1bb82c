#include "proto/answer/describe.h"

/* The type that an input has when nothing says another. */
static const char *default_type(const struct op *op, int input)
{
    return op->values >> input & 1 ? "FP32" : "INT64";
}

/* A list of dimensions can say that they vary, but not that their number does: it shows the
 * smallest rank, at least one. */
static void put_dims(struct text *t, const struct op *op, int input)
{
    struct op_ranks ranks = op->ranks[input];
    text_puts(t, ranks.most == 1 && ranks.least == 0 ? "[1" : "[-1");
    for (int i = 1; i < ranks.least; i++)
        text_puts(t, ",-1");
    text_puts(t, "]");
}

static void put_metadata_input(struct text *t, const struct op *op, int input)
{
    text_printf(t, "{\"name\":\"%s\",\"datatype\":\"%s\",\"shape\":", op->inputs[input],
                default_type(op, input));
    put_dims(t, op, input);
    text_puts(t, "}");
}

static void put_config_input(struct text *t, const struct op_name *op, int input)
{
    text_printf(t, "{\"name\":\"%s\",\"data_type\":\"TYPE_%s\",\"format\":\"FORMAT_NONE\",",
                op->op->inputs[input], default_type(op->op, input));
    text_quoted(t, "'dims':");
    put_dims(t, op->op, input);
    text_quoted(t, input < op->required ? "}" : ",'optional':true}");
}

static void put_aliases(struct text *t, const char *const *alias)
{
    for (const char *separator = "; also called "; *alias; alias++, separator = ", ")
        text_printf(t, "%s%s", separator, *alias);
}

/* Types, ranks and other names of each input, as strings: v2's schema has no place for them. */
static void put_properties(struct text *t, const struct op_name *name)
{
    const struct op *op = name->op;
    const dtype_set complex = DTYPE_BIT(C64) | DTYPE_BIT(C128);
    text_quoted(t, "{'polymorphic':'true'");
    for (int i = 0; i < op_inputs(op); i++) {
        struct op_ranks ranks = op->ranks[i];
        text_printf(t, ",\"%s\":\"%s, rank %d", op->inputs[i],
                    i < name->required ? "required" : "optional", ranks.least);
        if (ranks.most > ranks.least)
            text_printf(t, " to %d", ranks.most);
        text_puts(t, ": ");
        text_dtypes(t, op_input_dtypes(op, i) & ~complex, dtype_name);
        text_puts(t, op_input_dtypes(op, i) & DTYPE_BIT(C64) ? "; C64 in safetensors" : "");
        put_aliases(t, op_input_aliases(op, i));
        text_puts(t, "\"");
    }
    text_printf(t, ",\"output\":\"the type of %s\"}", op->inputs[op_value_input(op)]);
}

void describe_model(struct text *t, const struct op_name *op)
{
    text_printf(t, "{\"name\":\"%s\",", op->name);
    text_quoted(t, "'versions':['1'],'platform':'tensord','inputs':[");
    for (int i = 0; i < op_inputs(op->op); i++) {
        text_puts(t, i > 0 ? "," : "");
        put_metadata_input(t, op->op, i);
    }
    text_quoted(t, "],'outputs':[{'name':'output','datatype':'FP32','shape':[-1]}],"
                   "'properties':");
    put_properties(t, op);
    text_puts(t, "}");
}

void describe_model_config(struct text *t, const struct op_name *op)
{
    text_printf(t, "{\"name\":\"%s\",", op->name);
    text_quoted(t, "'platform':'tensord','backend':'tensord',"
                   "'version_policy':{'latest':{'num_versions':1}},'max_batch_size':0,'input':[");
    for (int i = 0; i < op_inputs(op->op); i++) {
        text_puts(t, i > 0 ? "," : "");
        put_config_input(t, op, i);
    }
    text_quoted(t, "],'output':[{'name':'output','data_type':'TYPE_FP32','dims':[-1]}]}");
}

static void put_stat(struct text *t, const char *name, struct op_stat stat)
{
    text_printf(t, "\"%s\":{\"count\":%llu,\"ns\":%llu}", name, (unsigned long long)stat.count,
                (unsigned long long)stat.ns);
}

/* perf_analyzer reads every one of these members without looking whether it is there. */
static void put_stats(struct text *t, const char *name, const struct op_stats *stats)
{
    const struct {
        const char *name;
        struct op_stat stat;
    } rows[] = {
        {"success", stats->success},
        {"fail", stats->fail},
        {"queue", stats->queue},
        {"compute_input", stats->compute_input},
        {"compute_infer", stats->compute_infer},
        {"compute_output", stats->compute_output},
        {"cache_hit", {0, 0}},
        {"cache_miss", {0, 0}},
    };
    unsigned long long count = stats->success.count;
    text_printf(t,
                "{\"name\":\"%s\",\"version\":\"1\",\"last_inference\":%lld,"
                "\"inference_count\":%llu,\"execution_count\":%llu,\"inference_stats\":{",
                name, (long long)stats->last_inference_ms, count, count);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        text_puts(t, i > 0 ? "," : "");
        put_stat(t, rows[i].name, rows[i].stat);
    }
    text_quoted(t, "},'response_stats':{},'batch_stats':[],'memory_usage':[]}");
}

void describe_model_stats(struct text *t, const struct op_name *op, const struct op_stats *stats)
{
    text_quoted(t, "{'model_stats':[");
    put_stats(t, op->name, stats);
    text_puts(t, "]}");
}

void describe_all_stats(struct text *t, const struct op_stats *stats)
{
    text_quoted(t, "{'model_stats':[");
    for (int i = 0; i < op_count(); i++) {
        text_puts(t, i > 0 ? "," : "");
        put_stats(t, op_at(i)->name, &stats[i]);
    }
    text_puts(t, "]}");
}
