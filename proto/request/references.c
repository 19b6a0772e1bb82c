#include "proto/request/parse.h"

#include <string.h>

enum error_code request_reference(struct reference *reference, const char *name, const char *what,
                                  struct error *error)
{
    size_t size = strlen(name);
    if (reference_is_set(reference))
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "%s is given twice, as \"%.64s\" and as \"%.64s\"; expected once", what,
                         reference->name, name);
    if (!tensor_name_is_legal(name, size))
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "%s is \"%.140s\"; a tensor's name is " TENSOR_NAME_RULE, what, name);
    memcpy(reference->name, name, size + 1);
    return ERROR_NONE;
}

static enum error_code refer_table(struct decode *d, struct error *error)
{
    const struct op_name *op = &d->request->op;
    int table = request_table(op->op);
    if (d->head->tensor &&
        request_reference(&d->table, d->head->tensor, "parameter tensor", error) != ERROR_NONE)
        return error->code;
    if (!reference_is_set(&d->table))
        return ERROR_NONE;
    if (table < 0)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "parameter tensor is \"%s\", but %s has no table that it could be",
                         d->table.name, op->name);
    const char *name = op->op->inputs[table];
    for (int i = 0; i < d->input_count; i++)
        if (d->inputs[i].input == table)
            return error_set(error, ERROR_DUPLICATE_INPUT, name,
                             "the input %s is given and is the tensor \"%s\" as well; expected "
                             "one of them",
                             name, d->table.name);
    d->request->references[table] = d->table;
    d->inputs[d->input_count++] =
        (struct announced){.input = table, .tensor.rank = -1, .source = SOURCE_REFERENCE};
    return ERROR_NONE;
}

/* An output that is asked for as a region is `into` in another spelling. */
static enum error_code refer_into(struct decode *d, struct error *error)
{
    struct reference *into = &d->request->into;
    if (d->head->into &&
        request_reference(into, d->head->into, "parameter into", error) != ERROR_NONE)
        return error->code;
    if (!reference_is_set(into))
        *into = d->region;
    if (!reference_is_set(into) || !d->output_listed)
        return ERROR_NONE;
    if (strcmp(into->name, d->region.name) != 0)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "the result goes into the tensor \"%s\" and an output is asked for as "
                         "well; expected \"outputs\": []",
                         into->name);
    *into = d->region;
    d->request->output_named = true;
    return ERROR_NONE;
}

/* Only what starts from a copy of a tensor may be written into one that it reads. */
static enum error_code check_into(const struct request *r, struct error *error)
{
    if (!reference_is_set(&r->into) || r->op.op->start == START_COPY)
        return ERROR_NONE;
    for (int i = 0; i < op_inputs(r->op.op); i++)
        if (strcmp(r->references[i].name, r->into.name) == 0)
            return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                             "parameter into is \"%s\", which %s reads as %s: it cannot be both",
                             r->into.name, r->op.name, r->op.op->inputs[i]);
    return ERROR_NONE;
}

enum error_code request_refer(struct decode *d, struct error *error)
{
    if (refer_table(d, error) != ERROR_NONE || refer_into(d, error) != ERROR_NONE)
        return error->code;
    return check_into(d->request, error);
}
