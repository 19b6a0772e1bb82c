#include "kernels/plan_parts.h"

#include <inttypes.h>
#include <string.h>

/* D = last dimension of indices must address dimensions of the output. */
static enum error_code check_depth(const struct plan *plan, const struct tensor *indices,
                                   const char *output, struct error *error)
{
    char shape[SHAPE_TEXT_MAX];
    if (plan->output.rank < 1)
        return error_set(error, ERROR_SHAPE_MISMATCH, output,
                         "%s has shape []; it needs rank 1 or more", output);
    if (indices->rank < 2)
        return error_set(error, ERROR_SHAPE_MISMATCH, "indices",
                         "indices has shape %s; it needs rank 2 or more, one tuple for each row, "
                         "like [[1],[3]]",
                         shape_print(shape, indices->shape, indices->rank));
    return plan_check_depth(indices, 1, plan->output.rank, output, error);
}

/* updates.shape == indices.shape[:-1] + output.shape[D:] */
static enum error_code check_updates(const struct plan *plan, const struct tensor *indices,
                                     const struct tensor *updates, const char *name,
                                     struct error *error)
{
    const struct tensor *output = &plan->output;
    int outer = indices->rank - 1, depth = (int)indices->shape[outer];
    int rank = outer + output->rank - depth;
    int64_t expected[2 * RANK_MAX];
    memcpy(expected, indices->shape, (size_t)outer * sizeof *expected);
    memcpy(expected + outer, output->shape + depth, (size_t)(rank - outer) * sizeof *expected);
    if (updates->rank == rank &&
        memcmp(updates->shape, expected, (size_t)rank * sizeof *expected) == 0)
        return ERROR_NONE;

    char found[SHAPE_TEXT_MAX], whole[2 * SHAPE_TEXT_MAX], rows[SHAPE_TEXT_MAX],
        row[SHAPE_TEXT_MAX];
    return error_set(error, ERROR_SHAPE_MISMATCH, "updates",
                     "updates has shape %s; it must be %s: %s, the rows of indices, then %s, the "
                     "shape of a row of %s",
                     shape_print(found, updates->shape, updates->rank),
                     shape_print(whole, expected, rank), shape_print(rows, indices->shape, outer),
                     shape_print(row, output->shape + depth, output->rank - depth), name);
}

static enum error_code plan_rows(struct plan *plan, int indices, int updates, const char *output,
                                 struct error *error)
{
    const struct tensor *i = &plan->inputs[indices], *u = &plan->inputs[updates];
    if (check_depth(plan, i, output, error) != ERROR_NONE ||
        check_updates(plan, i, u, output, error) != ERROR_NONE)
        return error->code;
    plan->kind = PLAN_SCATTER;
    plan->values = u;
    plan_address_rows(plan, indices, true, &plan->output, output);
    return ERROR_NONE;
}

enum error_code plan_tensor_scatter(struct plan *plan, struct error *error)
{
    plan->start = &plan->inputs[0];
    plan->output = plan->inputs[0];
    plan->output.data = NULL;
    return plan_rows(plan, 1, 2, "tensor", error);
}

/* The output's shape is what the input `shape` holds. */
static enum error_code read_shape(struct plan *plan, const struct tensor *shape,
                                  struct error *error)
{
    char text[SHAPE_TEXT_MAX];
    if (shape->rank != 1 || shape->shape[0] < 1 || shape->shape[0] > RANK_MAX)
        return error_set(error, ERROR_SHAPE_MISMATCH, "shape",
                         "shape has shape %s; it must be a vector of 1 to %d dimensions",
                         shape_print(text, shape->shape, shape->rank), RANK_MAX);
    plan->output.rank = (int)shape->shape[0];
    for (int i = 0; i < plan->output.rank; i++) {
        plan->output.shape[i] = plan_integer(shape, i);
        if (plan->output.shape[i] < 0)
            return error_set(error, ERROR_VALUE_OUT_OF_RANGE, "shape",
                             "shape[%d] is %" PRId64 "; a dimension must not be negative", i,
                             plan->output.shape[i]);
    }
    return ERROR_NONE;
}

enum error_code plan_scatter_nd(struct plan *plan, struct error *error)
{
    plan->output.dtype = plan->inputs[1].dtype;
    if (read_shape(plan, &plan->inputs[2], error) != ERROR_NONE)
        return error->code;
    return plan_rows(plan, 0, 1, "output", error);
}
