#include "kernels/plan_parts.h"

#include <inttypes.h>

enum { DATA, INDICES, SEGMENT_IDS, NUM_SEGMENTS };

static enum error_code check_vector(const struct tensor *t, const char *name, struct error *error)
{
    char shape[SHAPE_TEXT_MAX];
    if (t->rank == 1)
        return ERROR_NONE;
    return error_set(error, ERROR_SHAPE_MISMATCH, name, "%s has shape %s; it must be a vector",
                     name, shape_print(shape, t->shape, t->rank));
}

static enum error_code check_pairs(const struct plan *plan, struct error *error)
{
    const struct tensor *indices = &plan->inputs[INDICES], *ids = &plan->inputs[SEGMENT_IDS];
    if (plan->inputs[DATA].rank < 1)
        return error_set(error, ERROR_SHAPE_MISMATCH, "data",
                         "data has shape []; it needs rank 1 or more");
    if (check_vector(indices, "indices", error) != ERROR_NONE ||
        check_vector(ids, "segment_ids", error) != ERROR_NONE)
        return error->code;
    if (indices->shape[0] != ids->shape[0])
        return error_set(error, ERROR_SHAPE_MISMATCH, "segment_ids",
                         "segment_ids has %" PRId64 " element%s and indices has %" PRId64
                         "; they must be equally long",
                         ids->shape[0], ids->shape[0] == 1 ? "" : "s", indices->shape[0]);
    return ERROR_NONE;
}

static enum error_code read_num_segments(const struct tensor *t, int64_t *segments,
                                         struct error *error)
{
    char shape[SHAPE_TEXT_MAX];
    if (t->rank > 1 || (t->rank == 1 && t->shape[0] != 1))
        return error_set(error, ERROR_SHAPE_MISMATCH, "num_segments",
                         "num_segments has shape %s; it must be one number, of shape [] or [1]",
                         shape_print(shape, t->shape, t->rank));
    *segments = plan_integer(t, 0);
    if (*segments < 0)
        return error_set(error, ERROR_VALUE_OUT_OF_RANGE, "num_segments",
                         "num_segments is %" PRId64 "; it must not be negative", *segments);
    return ERROR_NONE;
}

/* The last id decides; whether the ids before it are below is for the check to find out. */
static enum error_code segments_of_last_id(const struct plan *plan, int64_t *segments,
                                           struct error *error)
{
    const struct tensor *ids = &plan->inputs[SEGMENT_IDS];
    *segments = 0;
    if (ids->shape[0] == 0)
        return ERROR_NONE;
    if (plan_check_input_sizes(plan, error) != ERROR_NONE)
        return error->code;
    int64_t last = plan_integer(ids, ids->shape[0] - 1);
    if (last == INT64_MAX)
        return error_set(error, ERROR_OUTPUT_TOO_LARGE, NULL,
                         "segment_ids ends with %" PRId64
                         ", so output has more rows than 64 bits can count",
                         last);
    *segments = last < 0 ? 0 : last + 1;
    return ERROR_NONE;
}

enum error_code plan_sparse_segment(struct plan *plan, struct error *error)
{
    const struct tensor *data = &plan->inputs[DATA], *given = &plan->inputs[NUM_SEGMENTS];
    int64_t segments;
    if (check_pairs(plan, error) != ERROR_NONE)
        return error->code;
    if (given->dtype != DTYPE_NONE ? read_num_segments(given, &segments, error) != ERROR_NONE
                                   : segments_of_last_id(plan, &segments, error) != ERROR_NONE)
        return error->code;

    plan->output = *data;
    plan->output.data = NULL;
    plan->output.shape[0] = segments;
    plan->kind = PLAN_SEGMENT;
    plan->values = data;
    plan->indices = &plan->inputs[INDICES];
    plan->indices_name = "indices";
    plan->table = data;
    plan->table_name = "data";
    plan->segment_ids = &plan->inputs[SEGMENT_IDS];
    plan->rows = (struct rows){
        .count = plan->indices->shape[0],
        .width = plan_product(data->shape, 1, data->rank),
        .depth = 1,
        .bound = {data->shape[0]},
        .limit = data->shape[0],
    };
    return ERROR_NONE;
}
