#include "kernels/plan_parts.h"

#include <inttypes.h>

static enum error_code check_vector(const struct tensor *t, const char *name, struct error *error)
{
    char shape[SHAPE_TEXT_MAX];
    if (t->rank == 1)
        return ERROR_NONE;
    return error_set(error, ERROR_SHAPE_MISMATCH, name, "%s has shape %s; it must be a vector",
                     name, shape_print(shape, t->shape, t->rank));
}

static enum error_code check_has_rows(const struct tensor *data, struct error *error)
{
    return data->rank >= 1 ? ERROR_NONE
                           : error_set(error, ERROR_SHAPE_MISMATCH, "data",
                                       "data has shape []; it needs rank 1 or more");
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
    const struct tensor *ids = plan->segment_ids;
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

/* The output: a row for each segment, of the dimensions of data from `inner` on. */
static void shape_output(struct plan *plan, int64_t segments, int inner)
{
    const struct tensor *data = plan->values;
    plan->output = (struct tensor){.dtype = data->dtype, .rank = 1, .shape = {segments}};
    for (int i = inner; i < data->rank; i++)
        plan->output.shape[plan->output.rank++] = data->shape[i];
}

/* Row k of data belongs to segment k. */
static void number_rows(struct plan *plan)
{
    const struct tensor *ids = plan->segment_ids, *data = plan->values;
    plan->rows.count = plan_product(ids->shape, 0, ids->rank);
    plan->rows.width = plan_product(data->shape, ids->rank, data->rank);
}

/* ------------------------------------------------------------------- pairs of indices and ids */

static enum error_code check_pairs(const struct tensor *indices, const struct tensor *ids,
                                   struct error *error)
{
    if (check_vector(indices, "indices", error) != ERROR_NONE ||
        check_vector(ids, "segment_ids", error) != ERROR_NONE)
        return error->code;
    if (indices->shape[0] != ids->shape[0])
        return error_set(error, ERROR_SHAPE_MISMATCH, "segment_ids",
                         "segment_ids has shape [%" PRId64 "]; it must be [%" PRId64
                         "], a segment for each index",
                         ids->shape[0], indices->shape[0]);
    return ERROR_NONE;
}

enum error_code plan_sparse_segment(struct plan *plan, struct error *error)
{
    enum { DATA, INDICES, SEGMENT_IDS, NUM_SEGMENTS };
    const struct tensor *data = &plan->inputs[DATA], *given = &plan->inputs[NUM_SEGMENTS];
    int64_t segments;
    plan->kind = PLAN_SEGMENT;
    plan->values = data;
    plan->segment_ids = &plan->inputs[SEGMENT_IDS];
    plan->segments_given = given->dtype != DTYPE_NONE;
    if (check_has_rows(data, error) != ERROR_NONE ||
        check_pairs(&plan->inputs[INDICES], plan->segment_ids, error) != ERROR_NONE)
        return error->code;
    if (plan->segments_given ? read_num_segments(given, &segments, error) != ERROR_NONE
                             : segments_of_last_id(plan, &segments, error) != ERROR_NONE)
        return error->code;
    shape_output(plan, segments, 1);
    plan_address_rows(plan, INDICES, false, data, "data");
    return ERROR_NONE;
}

/* ------------------------------------------------------------------------------- sorted rows */

enum { DATA, SEGMENT_IDS, NUM_SEGMENTS };

enum error_code plan_segment(struct plan *plan, struct error *error)
{
    const struct tensor *data = &plan->inputs[DATA], *ids = &plan->inputs[SEGMENT_IDS];
    int64_t segments;
    plan->kind = PLAN_SEGMENT;
    plan->values = data;
    plan->segment_ids = ids;
    if (check_has_rows(data, error) != ERROR_NONE ||
        check_vector(ids, "segment_ids", error) != ERROR_NONE)
        return error->code;
    if (ids->shape[0] != data->shape[0])
        return error_set(error, ERROR_SHAPE_MISMATCH, "segment_ids",
                         "segment_ids has shape [%" PRId64 "]; it must be [%" PRId64
                         "], a segment for each row of data",
                         ids->shape[0], data->shape[0]);
    if (segments_of_last_id(plan, &segments, error) != ERROR_NONE)
        return error->code;
    shape_output(plan, segments, 1);
    number_rows(plan);
    plan->rows.limit = plan->rows.count;
    return ERROR_NONE;
}

/* ------------------------------------------------------------------------ rows in any order */

static enum error_code check_prefix(const struct tensor *data, const struct tensor *ids,
                                    struct error *error)
{
    char found[SHAPE_TEXT_MAX], whole[SHAPE_TEXT_MAX];
    bool equal = ids->rank <= data->rank;
    for (int i = 0; i < ids->rank && equal; i++)
        equal = ids->shape[i] == data->shape[i];
    if (equal)
        return plan_check_rank(1 + data->rank - ids->rank, "output", error);
    return error_set(error, ERROR_SHAPE_MISMATCH, "segment_ids",
                     "segment_ids has shape %s; it must be the first dimensions of data, which has "
                     "shape %s",
                     shape_print(found, ids->shape, ids->rank),
                     shape_print(whole, data->shape, data->rank));
}

enum error_code plan_unsorted_segment(struct plan *plan, struct error *error)
{
    int64_t segments;
    plan->kind = PLAN_SCATTER;
    plan->from_first = combine_starts_from_first(plan->op->combine);
    plan->values = &plan->inputs[DATA];
    plan->segment_ids = &plan->inputs[SEGMENT_IDS];
    plan->ids_in_any_order = plan->segments_given = true;
    if (check_prefix(plan->values, plan->segment_ids, error) != ERROR_NONE ||
        read_num_segments(&plan->inputs[NUM_SEGMENTS], &segments, error) != ERROR_NONE)
        return error->code;
    shape_output(plan, segments, plan->segment_ids->rank);
    number_rows(plan);
    plan->rows.depth = 1;
    plan->rows.limit = plan->rows.bound[0] = segments;
    return ERROR_NONE;
}
