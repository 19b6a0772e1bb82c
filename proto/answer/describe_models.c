#include "proto/answer/describe.h"
#include "proto/answer/example.h"

static void put_operation(struct text *t, const struct op *op)
{
    const char *separator = "";
    text_printf(t, "{\"name\":\"%s\",\"aliases\":[", op->name);
    for (const struct op_alias *alias = op->names + 1; alias->text; alias++) {
        text_printf(t, "%s\"%s\"", separator, alias->text);
        separator = ",";
    }
    text_quoted(t, "],'inputs':[");
    for (int i = 0; i < op_inputs(op); i++)
        text_printf(t, "%s\"%s\"", i > 0 ? "," : "", op->inputs[i]);
    text_puts(t, "]}");
}

/* The request as it is sent, and what of its answer is known beforehand. */
static void put_example(struct text *t, const struct example *example)
{
    text_printf(t, "{\"model\":\"%s\",\"says\":\"%s\",\"request\":{\"inputs\":{%s}", example->model,
                example->says, example->inputs);
    if (example->parameters)
        text_printf(t, ",\"parameters\":%s", example->parameters);
    if (example->data)
        text_printf(t, "},\"data\":%s}", example->data);
    else
        text_printf(t, "},\"code\":\"%s\"}", example->code);
}

void describe_models(struct text *t)
{
    text_quoted(t, "{'models':[");
    for (int i = 0; i < op_count(); i++) {
        text_puts(t, i > 0 ? "," : "");
        put_operation(t, op_at(i));
    }
    text_quoted(t, "],'examples':[");
    for (int i = 0; i < example_count(); i++) {
        text_puts(t, i > 0 ? "," : "");
        put_example(t, example_at(i));
    }
    text_puts(t, "]}");
}

void describe_entries(struct text *t, const char *version, const char *base_path)
{
    static const struct {
        const char *name, *path;
    } entries[] = {
        {"page", "/"},
        {"server", "/v2"},
        {"operations", "/v2/models"},
        {"operation", "/v2/models/{op}"},
        {"infer", "/v2/models/{op}/infer"},
        {"tensors", "/v2/tensors"},
        {"ready", "/v2/health/ready"},
        {"metrics", "/metrics"},
        {"openapi", "/openapi.json"},
    };
    text_printf(t, "{\n  \"name\": \"tensord\",\n  \"version\": \"%s\"", version);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        text_printf(t, ",\n  \"%s\": \"%s%s\"", entries[i].name, base_path, entries[i].path);
    text_printf(t, ",\n  \"example\": \"POST %s/v2/models/%s/infer {\\\"inputs\\\": ", base_path,
                "tensor_scatter_add");
    text_puts(t, "{\\\"tensor\\\": [1, 2, 3, 4], \\\"indices\\\": [[1], [3]], "
                 "\\\"updates\\\": [10, 20]}}\"\n}");
}
