#include "kernels/plan.h"
#include "proto/json/tensor.h"
#include "proto/request/parse.h"
#include "proto/text.h"

#include <string.h>

enum { LIST_MAX = 192 };

static enum error_code unknown_input(const struct op_name *op, const char *name,
                                     struct error *error)
{
    char list[LIST_MAX];
    struct text expected;
    text_init(&expected, list, sizeof(list));
    for (int i = 0; i < op_inputs(op->op); i++)
        text_printf(&expected, "%s%s", i > 0 ? ", " : "", op->op->inputs[i]);
    return error_set(error, ERROR_UNKNOWN_INPUT, NULL, "%s has no input \"%.64s\"; it has %s",
                     op->name, name, expected.data);
}

enum error_code request_announce(struct decode *d, const char *name, struct announced **announced,
                                 struct error *error)
{
    const struct op_name *op = &d->request->op;
    int input = d->any_name ? 0 : op_input(op->op, name, strlen(name));
    if (input < 0)
        return unknown_input(op, name, error);
    for (int i = 0; i < d->input_count; i++)
        if (d->inputs[i].input == input && d->any_name)
            return error_set(error, ERROR_INVALID_FIELD, NULL,
                             "the file has a second tensor, \"%.64s\"; expected one", name);
        else if (d->inputs[i].input == input)
            return error_set(error, ERROR_DUPLICATE_INPUT, op->op->inputs[input],
                             "the input %s is given more than once (here as \"%.64s\")",
                             op->op->inputs[input], name);
    *announced = &d->inputs[d->input_count++];
    **announced = (struct announced){.input = input, .tensor.rank = -1};
    return ERROR_NONE;
}

/* The types that the body's encoding has names for. */
static dtype_set known_types(const struct decode *d)
{
    return d->head->body == ENCODING_SAFETENSORS ? ~(DTYPE_BIT(C128) | DTYPE_BIT(BYTES))
                                                 : ~(DTYPE_BIT(C64) | DTYPE_BIT(C128));
}

enum error_code request_unknown_dtype(const struct decode *d, int input, const char *found,
                                      struct error *error)
{
    const struct op_name *op = &d->request->op;
    const char *name = op->op->inputs[input];
    char list[LIST_MAX];
    struct text accepted;
    text_init(&accepted, list, sizeof(list));
    text_dtypes(&accepted, op_input_dtypes(op->op, input) & known_types(d),
                d->head->body == ENCODING_SAFETENSORS ? dtype_safetensors_name : dtype_name);
    return error_set(
        error, ERROR_UNSUPPORTED_DTYPE, name,
        "datatype of %s is \"%.64s\", which this encoding does not have; %s accepts %s", name,
        found, op->name, accepted.data);
}

static bool holds_values(const struct decode *d, const struct announced *a)
{
    return d->request->op.op->values >> a->input & 1;
}

/* A reference without a type has its tensor's, as of now. */
static enum dtype known_dtype(struct decode *d, const struct announced *a)
{
    struct reference *reference = &d->request->references[a->input];
    struct directory *directory = d->work->directory;
    if (a->source != SOURCE_REFERENCE || a->tensor.dtype != DTYPE_NONE || !directory)
        return a->tensor.dtype;
    return reference->met_dtype = directory->dtype_of(directory, reference->name);
}

/* Values without a type have that of the other value input, else FP32; integers are INT64. The
 * request's inputs are what was announced, until their elements are loaded. */
static void settle_types(struct decode *d)
{
    enum dtype values = DTYPE_NONE;
    for (int i = 0; i < d->input_count; i++)
        if (holds_values(d, &d->inputs[i]) && values == DTYPE_NONE)
            values = known_dtype(d, &d->inputs[i]);
    bool untyped = values == DTYPE_NONE;
    if (untyped)
        values = DTYPE_FP32;
    for (int i = 0; i < d->input_count; i++) {
        struct announced *a = &d->inputs[i];
        a->untyped = untyped && holds_values(d, a);
        if (a->tensor.dtype == DTYPE_NONE && a->source != SOURCE_REFERENCE) {
            a->tensor.dtype = holds_values(d, a) ? values : DTYPE_INT64;
            d->request->dtype_open |= holds_values(d, a);
        }
        d->request->inputs[a->input] = a->tensor;
    }
}

/* Checks ranks, once all types are known to be right: faults of types are reported first. */
static enum error_code check_ranks(const struct decode *d, struct error *error)
{
    for (int i = 0; i < d->input_count; i++) {
        const struct announced *a = &d->inputs[i];
        const char *name = d->request->op.op->inputs[a->input];
        if (a->tensor.rank > RANK_MAX)
            return error_set(error, ERROR_SHAPE_MISMATCH, name,
                             "shape of %s has %d dimensions; at most %d are possible", name,
                             a->tensor.rank, RANK_MAX);
    }
    return ERROR_NONE;
}

/* Refuses a bare [] for indices: it would be one tuple without coordinates, or have the wrong rank,
 * while a client that writes it means no rows, which have a shape. */
static enum error_code check_no_rows(const struct decode *d, const struct announced *a,
                                     struct error *error)
{
    const struct op *op = d->request->op.op;
    const struct tensor *t = &d->request->inputs[a->input];
    bool bare = a->tensor.rank < 0 && t->rank == 1 && t->shape[0] == 0;
    if (!bare || holds_values(d, a) || op->ranks[a->input].most == 1)
        return ERROR_NONE;
    return error_set(error, ERROR_SHAPE_MISMATCH, op->inputs[a->input],
                     "%s is [], which does not say how many coordinates a row has; no rows are "
                     "written as {\"shape\": [0, 1], \"data\": []}",
                     op->inputs[a->input]);
}

static enum error_code load_cut(struct decode *d, const struct announced *a,
                                const struct json_scan *scan, struct error *error)
{
    struct json_value value = {scan, a->cut, a->untyped};
    enum error_code code =
        json_tensor_read(&d->request->inputs[a->input], d->request->op.op->inputs[a->input], &value,
                         d->work, &d->bare_tokens, error);
    return code ? code : check_no_rows(d, a, error);
}

static enum error_code load(struct decode *d, const struct announced *a,
                            const struct json_scan *scan, struct frame *frame, struct error *error)
{
    if (a->source == SOURCE_REFERENCE)
        return ERROR_NONE;
    return a->source == SOURCE_CUT
               ? load_cut(d, a, scan, error)
               : frame_take(frame, &d->request->inputs[a->input],
                            d->request->op.op->inputs[a->input], a->bytes, d->work, error);
}

enum error_code request_load(struct decode *d, const struct json_scan *scan, struct frame *frame,
                             struct error *error)
{
    settle_types(d);
    enum error_code code =
        plan_check_types(&d->request->op, d->request->inputs, known_types(d), error);
    if (!code)
        code = check_ranks(d, error);
    for (int i = 0; i < d->input_count && !code; i++)
        code = load(d, &d->inputs[i], scan, frame, error);
    return code ? code : frame_end(frame, error);
}
