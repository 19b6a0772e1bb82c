#include "kernels/plan.h"
#include "kernels/combine.h"
#include "kernels/plan_parts.h"

#include <inttypes.h>
#include <stdio.h>

enum { DTYPE_LIST_MAX = DTYPE_COUNT * 8 };

static const char *print_dtypes(char *text, dtype_set set)
{
    char *end = text;
    *end = '\0';
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++)
        if (set >> d & 1)
            end += sprintf(end, end == text ? "%s" : ", %s", dtype_name((enum dtype)d));
    return text;
}

static enum error_code check_present(const struct plan *plan, const struct op_name *name,
                                     struct error *error)
{
    for (int i = 0; i < name->required; i++)
        if (plan->inputs[i].dtype == DTYPE_NONE)
            return error_set(error, ERROR_MISSING_INPUT, plan->op->inputs[i],
                             "%s needs the input %s", name->name, plan->op->inputs[i]);
    return ERROR_NONE;
}

enum error_code plan_check_types(const struct op_name *name, const struct tensor *inputs,
                                 dtype_set known, struct error *error)
{
    const struct op *op = name->op;
    int first = op_value_input(op);
    for (int i = 0; i < op_inputs(op); i++) {
        enum dtype d = inputs[i].dtype, value = inputs[first].dtype;
        dtype_set accepted = op_input_dtypes(op, i);
        char list[DTYPE_LIST_MAX];
        if (d == DTYPE_NONE)
            continue;
        if (!(accepted >> d & 1))
            return error_set(error, ERROR_UNSUPPORTED_DTYPE, op->inputs[i],
                             "%s is %s; %s accepts %s", op->inputs[i], dtype_name(d), name->name,
                             print_dtypes(list, accepted & known));
        if (op->values >> i & 1 && d != value && value != DTYPE_NONE)
            return error_set(error, ERROR_UNSUPPORTED_DTYPE, op->inputs[i],
                             "%s is %s but %s is %s: their types must be equal", op->inputs[i],
                             dtype_name(d), op->inputs[first], dtype_name(value));
    }
    return ERROR_NONE;
}

enum error_code plan_check_rank(int rank, const char *name, struct error *error)
{
    if (rank <= RANK_MAX)
        return ERROR_NONE;
    return error_set(error, ERROR_SHAPE_MISMATCH, name, "%s has rank %d; at most %d is possible",
                     name, rank, RANK_MAX);
}

enum error_code plan_check_depth(const struct tensor *indices, int least, int rank,
                                 const char *table, struct error *error)
{
    int64_t depth = indices->shape[indices->rank - 1];
    char range[32] = "";
    if (depth >= least && depth <= rank)
        return ERROR_NONE;
    if (least < rank)
        snprintf(range, sizeof range, "%d to ", least);
    return error_set(error, ERROR_SHAPE_MISMATCH, "indices",
                     "the last dimension of indices is %" PRId64
                     "; it must be %s%d, the rank of %s",
                     depth, range, rank, table);
}

static enum error_code check_shape(const struct tensor *t, const char *name, struct error *error)
{
    if (plan_check_rank(t->rank, name, error) != ERROR_NONE)
        return error->code;
    for (int i = 0; i < t->rank; i++)
        if (t->shape[i] < 0)
            return error_set(error, ERROR_SHAPE_MISMATCH, name,
                             "dimension %d of %s is %" PRId64 "; it must not be negative", i, name,
                             t->shape[i]);
    return ERROR_NONE;
}

static enum error_code check_shapes(const struct plan *plan, struct error *error)
{
    for (int i = 0; i < op_inputs(plan->op); i++) {
        const struct tensor *t = &plan->inputs[i];
        if (t->dtype != DTYPE_NONE && check_shape(t, plan->op->inputs[i], error) != ERROR_NONE)
            return error->code;
    }
    return ERROR_NONE;
}

enum error_code plan_check_input_sizes(const struct plan *plan, struct error *error)
{
    for (int i = 0; i < op_inputs(plan->op); i++) {
        const struct tensor *t = &plan->inputs[i];
        size_t bytes;
        char shape[SHAPE_TEXT_MAX];
        if (t->dtype != DTYPE_NONE && !tensor_bytes(t, &bytes))
            return error_set(error, ERROR_SIZE_MISMATCH, plan->op->inputs[i],
                             "%s of shape %s has more bytes than 64 bits can count",
                             plan->op->inputs[i], shape_print(shape, t->shape, t->rank));
    }
    return ERROR_NONE;
}

static enum error_code output_too_large(const struct plan *plan, const char *size,
                                        struct error *error)
{
    char shape[SHAPE_TEXT_MAX];
    return error_set(error, ERROR_OUTPUT_TOO_LARGE, NULL,
                     "output of shape %s has %s; at most %zu are allowed (max_output)",
                     shape_print(shape, plan->output.shape, plan->output.rank), size,
                     plan->options.output_limit);
}

/* What the text of BYTES adds is known only when the output is (kernels/cpu/bytes.c). */
static enum error_code check_output_size(struct plan *plan, struct error *error)
{
    int64_t count;
    size_t bytes;
    char text[40];
    size_t element =
        plan->output.dtype == DTYPE_BYTES ? BYTES_SIZE_BYTES : dtype_bytes(plan->output.dtype);
    if (!tensor_bytes(&plan->output, &plan->output_bytes) || !tensor_count(&plan->output, &count) ||
        __builtin_mul_overflow((size_t)count, element, &bytes))
        return output_too_large(plan, "more bytes than 64 bits can count", error);
    if (bytes > plan->options.output_limit) {
        snprintf(text, sizeof text, "%zu bytes", bytes);
        return output_too_large(plan, text, error);
    }
    return ERROR_NONE;
}

/* Rows without elements take no bytes, however many there are; but their number has to be told. */
static enum error_code check_output_shape(const struct plan *plan, struct error *error)
{
    const struct tensor *output = &plan->output;
    char shape[SHAPE_TEXT_MAX];
    for (int i = 0; i < output->rank; i++)
        if (output->shape[i] > DIMENSION_MAX)
            return error_set(error, ERROR_OUTPUT_TOO_LARGE, NULL,
                             "output of shape %s has a dimension above 2^53 - 1",
                             shape_print(shape, output->shape, output->rank));
    return ERROR_NONE;
}

int64_t plan_integer(const struct tensor *t, int64_t i)
{
    return t->dtype == DTYPE_INT32 ? ((const int32_t *)t->data)[i] : ((const int64_t *)t->data)[i];
}

int64_t plan_product(const int64_t *shape, int from, int to)
{
    int64_t product;
    return shape_product(shape, from, to, &product) ? product : INT64_MAX;
}

void plan_address_rows(struct plan *plan, int input, bool tuples, const struct tensor *table,
                       const char *table_name)
{
    struct rows *rows = &plan->rows;
    const struct tensor *indices = &plan->inputs[input];
    int outer = indices->rank - tuples;
    plan->indices = indices;
    plan->indices_name = plan->op->inputs[input];
    plan->tuples = tuples;
    plan->table = table;
    plan->table_name = table_name;
    rows->depth = tuples ? (int)indices->shape[outer] : 1;
    rows->count = plan_product(indices->shape, 0, outer);
    rows->width = plan_product(table->shape, rows->depth, table->rank);
    rows->limit = plan_product(table->shape, 0, rows->depth);
    for (int i = 0; i < rows->depth; i++)
        rows->bound[i] = table->shape[i];
}

struct kernel_key plan_kernel_key(const struct plan *plan, enum dtype dtype)
{
    const struct op *op = plan->op;
    struct kernel_key key = {plan->kind, op->combine, dtype, op->finish, plan->from_first};
    if (dtype == DTYPE_C64)
        key.dtype = DTYPE_FP32;
    if (dtype == DTYPE_C128)
        key.dtype = DTYPE_FP64;
    if (op->combine == COMBINE_ADD && dtype == DTYPE_BOOL)
        key.combine = COMBINE_OR;
    if (op->combine == COMBINE_ADD && dtype == DTYPE_BYTES)
        key.combine = COMBINE_CONCAT;
    return key;
}

bool kernel_key_is_sound(const struct kernel_key *key)
{
    bool integer = DTYPES_INTEGERS >> key->dtype & 1, real = DTYPES_FLOATS >> key->dtype & 1;
    bool divides_by_zero = key->kind == PLAN_SEGMENT && key->combine == COMBINE_DIV && integer;
    bool finishes = real && (key->kind == PLAN_SEGMENT ||
                             (key->kind == PLAN_SCATTER && key->combine == COMBINE_ADD));
    bool starts = !key->from_first || combine_picks(key->combine);
    return (key->finish == FINISH_NONE || finishes) && starts && !divides_by_zero;
}

static void choose_kernel(struct plan *plan)
{
    struct kernel_key key = plan_kernel_key(plan, plan->output.dtype);
    plan->combine = key.combine;
    plan->dtype = key.dtype;
    if (DTYPES_COMPLEX >> plan->output.dtype & 1 &&
        __builtin_mul_overflow(plan->rows.width, 2, &plan->rows.width))
        plan->rows.width = INT64_MAX;
    if (plan->op->empty == EMPTY_OF_COMBINE)
        combine_empty(key.combine, key.dtype, plan->empty);
}

/* Every row is read once and, for a scatter, its destination read and written; zeros are written
 * first. A copied start value is left out: the server makes such results in place. */
static size_t touched_bytes(const struct plan *plan)
{
    const struct rows *rows = &plan->rows;
    size_t row, bytes;
    size_t row_uses = plan->kind == PLAN_SEGMENT ? 1 : 3;
    if (__builtin_mul_overflow((size_t)rows->width, row_uses * dtype_bytes(plan->dtype), &row) ||
        __builtin_add_overflow(row, 16 * (size_t)rows->depth, &row) ||
        __builtin_mul_overflow(row, (size_t)rows->count, &bytes) ||
        __builtin_add_overflow(bytes, plan->start ? 0 : plan->output_bytes, &bytes))
        return SIZE_MAX;
    return bytes;
}

enum error_code plan_make(struct plan *plan, const struct op_name *name,
                          const struct tensor *inputs, const struct plan_options *options,
                          struct error *error)
{
    *plan = (struct plan){.op = name->op, .options = *options};
    for (int i = 0; i < op_inputs(plan->op); i++)
        plan->inputs[i] = inputs[i];

    if (check_present(plan, name, error) != ERROR_NONE ||
        plan_check_types(name, plan->inputs, ~0u, error) != ERROR_NONE ||
        check_shapes(plan, error) != ERROR_NONE || plan->op->plan(plan, error) != ERROR_NONE ||
        plan_check_input_sizes(plan, error) != ERROR_NONE ||
        check_output_size(plan, error) != ERROR_NONE ||
        check_output_shape(plan, error) != ERROR_NONE)
        return error->code;

    choose_kernel(plan);
    plan_size_scratch(plan);
    plan->touched_bytes = touched_bytes(plan);
    return ERROR_NONE;
}

int plan_in_place_input(const struct plan *plan)
{
    return plan->op->start == START_COPY ? op_value_input(plan->op) : -1;
}
