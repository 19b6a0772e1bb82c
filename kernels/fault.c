#include "kernels/fault.h"
#include "kernels/flatten.h"
#include "kernels/plan_parts.h"

#include <inttypes.h>
#include <stdio.h>

/* The multi-index of row k over the first `rank` dimensions of a tensor. */
static void locate(const struct tensor *t, int rank, int64_t k, struct fault *fault)
{
    fault->position_rank = rank;
    for (int i = rank - 1; i >= 0; i--) {
        fault->position[i] = k % t->shape[i];
        k /= t->shape[i];
    }
    fault->index_rank = 0;
    fault->axis = -1;
}

/* Locates row k of the indices: the position has all their dimensions but a tuple's. */
static void locate_row(const struct plan *plan, int64_t k, struct fault *fault)
{
    if (plan->indices)
        locate(plan->indices, plan->indices->rank - plan->tuples, k, fault);
    else
        locate(plan->segment_ids, plan->segment_ids->rank, k, fault);
}

/* Reads tuple k; false when all its components are inside. */
static bool describe(const struct plan *plan, int64_t k, struct fault *fault)
{
    const struct rows *rows = &plan->rows;
    int axis = -1;
    for (int i = rows->depth - 1; i >= 0; i--) {
        fault->index[i] = plan_integer(plan->indices, k * rows->depth + i);
        if (!index_inside(fault->index[i], rows->bound[i]))
            axis = i;
    }
    if (axis < 0)
        return false;
    locate_row(plan, k, fault);
    fault->index_rank = rows->depth;
    fault->axis = axis;
    return true;
}

static void set_bound(struct error *error, const int64_t *bound, int rank)
{
    error->bound_rank = rank;
    for (int i = 0; i < rank; i++)
        error->bound[i] = bound[i];
}

/* "[1, 2]", or nothing for the only row that there is. */
static const char *print_position(char *text, const struct fault *fault)
{
    text[0] = '\0';
    return fault->position_rank ? shape_print(text, fault->position, fault->position_rank) : text;
}

static void say_index(const struct plan *plan, const struct fault *fault, struct error *error)
{
    char position[SHAPE_TEXT_MAX], index[SHAPE_TEXT_MAX], shape[SHAPE_TEXT_MAX];
    print_position(position, fault);
    if (!plan->tuples)
        snprintf(index, sizeof index, "%" PRId64, fault->index[0]);
    else
        shape_print(index, fault->index, fault->index_rank);
    error_set(error, ERROR_INDEX_OUT_OF_BOUNDS, plan->indices_name,
              "%s%s = %s is out of bounds for shape %s of %s (axis %d: %" PRId64
              " is not in [0, %" PRId64 "))",
              plan->indices_name, position, index,
              shape_print(shape, plan->table->shape, plan->table->rank), plan->table_name,
              fault->axis, fault->index[fault->axis], plan->rows.bound[fault->axis]);
}

enum error_code fault_index(const struct plan *plan, int64_t first, struct error *error)
{
    int64_t bad = 0;
    int described = 0;
    for (int64_t k = first; k < plan->rows.count; k++) {
        struct fault fault;
        if (k % PLAN_STOP_ELEMENTS == 0 && plan_stopped(plan))
            return fault_cancelled(error);
        if (!describe(plan, k, &fault))
            continue;
        if (bad++ == 0)
            say_index(plan, &fault, error);
        if (described < ERROR_FAULTS_MAX)
            error->faults[described++] = fault;
    }
    error->fault_count = described;
    error->invalid_count = bad;
    set_bound(error, plan->rows.bound, plan->rows.depth);
    return error->code;
}

static enum error_code fault_set_id(const struct plan *plan, int64_t k, struct error *error)
{
    struct fault *fault = &error->faults[0];
    locate(plan->segment_ids, plan->segment_ids->rank, k, fault);
    fault->index_rank = 1;
    fault->index[0] = plan_integer(plan->segment_ids, k);
    error->fault_count = 1;
    return error->code;
}

enum error_code fault_unsorted(const struct plan *plan, int64_t k, struct error *error)
{
    error_set(error, ERROR_SEGMENT_IDS_NOT_SORTED, "segment_ids",
              "segment_ids[%" PRId64 "] = %" PRId64 " is below segment_ids[%" PRId64 "] = %" PRId64
              ": segment ids must not decrease",
              k, plan_integer(plan->segment_ids, k), k - 1, plan_integer(plan->segment_ids, k - 1));
    return fault_set_id(plan, k, error);
}

enum error_code fault_segment(const struct plan *plan, int64_t k, struct error *error)
{
    int64_t id = plan_integer(plan->segment_ids, k);
    struct fault fault;
    char position[SHAPE_TEXT_MAX];
    locate(plan->segment_ids, plan->segment_ids->rank, k, &fault);
    print_position(position, &fault);
    if (id < 0)
        error_set(error, ERROR_SEGMENT_ID_OUT_OF_RANGE, "segment_ids",
                  "segment_ids%s = %" PRId64 " must not be negative", position, id);
    else
        error_set(error, ERROR_SEGMENT_ID_OUT_OF_RANGE, "segment_ids",
                  "segment_ids%s = %" PRId64 " must be < num_segments = %" PRId64, position, id,
                  plan->output.shape[0]);
    if (plan->segments_given)
        set_bound(error, plan->output.shape, 1);
    return fault_set_id(plan, k, error);
}

enum error_code fault_division(const struct plan *plan, int64_t k, struct error *error)
{
    struct fault *fault = &error->faults[0];
    const char *values = plan->op->inputs[plan->values - plan->inputs];
    char position[SHAPE_TEXT_MAX];
    locate_row(plan, k, fault);
    error_set(error, ERROR_DIVISION_BY_ZERO, values,
              "%s%s holds a zero, and %s cannot be divided by it", values,
              print_position(position, fault), dtype_name(plan->dtype));
    error->fault_count = 1;
    return error->code;
}

enum error_code fault_cancelled(struct error *error)
{
    return error_set(error, ERROR_CANCELLED, NULL, "the work was stopped before it was done");
}
