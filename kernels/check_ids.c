#include "kernels/check.h"
#include "kernels/fault.h"
#include "kernels/flatten.h"

enum { BLOCK = 1024 };

/* --------------------------------------------------------------------- ids that do not decrease */

/* Whether an id of a block is below the one before it. No branch: the compiler makes vectors. */
ALWAYS_INLINE bool block_decreases(const void *ids, int bits, int64_t from, int64_t to)
{
    const int32_t *narrow = ids;
    const int64_t *wide = ids;
    int32_t decreases = 0;
    if (bits == 32)
        for (int64_t k = from; k < to; k++)
            decreases |= narrow[k] < narrow[k - 1];
    else
        for (int64_t k = from; k < to; k++)
            decreases |= wide[k] < wide[k - 1];
    return decreases;
}

/* First place in [from, to) where an id is below the one before it, or `to`. */
static int64_t first_decrease(const void *ids, int bits, int64_t from, int64_t to)
{
    for (int64_t k = from, end; k < to; k = end) {
        end = to - k < BLOCK ? to : k + BLOCK;
        if (!(bits == 32 ? block_decreases(ids, 32, k, end) : block_decreases(ids, 64, k, end)))
            continue;
        while (index_load(ids, bits, k) >= index_load(ids, bits, k - 1))
            k++;
        return k;
    }
    return to;
}

static enum error_code check_sorted(struct plan *plan, struct error *error)
{
    const void *ids = plan->rows.segment = plan->segment_ids->data;
    int bits = plan->rows.segment_bits = tensor_index_bits(plan->segment_ids);
    int64_t count = plan->rows.count;
    if (count == 0)
        return ERROR_NONE;
    for (int64_t k = 1; k < count; k += PLAN_STOP_ELEMENTS) {
        int64_t end = count - k < PLAN_STOP_ELEMENTS ? count : k + PLAN_STOP_ELEMENTS;
        int64_t bad = first_decrease(ids, bits, k, end);
        if (bad < end)
            return fault_unsorted(plan, bad, error);
        if (plan_stopped(plan))
            return fault_cancelled(error);
    }
    if (index_load(ids, bits, 0) < 0)
        return fault_segment(plan, 0, error);
    int64_t bad = ids_first_not_below(ids, bits, count, plan->output.shape[0]);
    return bad < count ? fault_segment(plan, bad, error) : ERROR_NONE;
}

/* -------------------------------------------------------------------------- ids in any order */

/* Faults of a block of ids: a sign bit is set where the block has one. */
struct signs {
    int64_t negative, beyond;
};

/* An id that is not negative is beyond when the last segment's number minus it is negative. */
ALWAYS_INLINE struct signs scan_block(const void *ids, int bits, int64_t segments, int64_t from,
                                      int64_t to)
{
    const int32_t *narrow = ids;
    const int64_t *wide = ids;
    int32_t last = (int32_t)(segments - 1 < INT32_MAX ? segments - 1 : INT32_MAX);
    int32_t negative = 0, beyond = 0;
    int64_t wide_last = segments - 1, wide_negative = 0, wide_beyond = 0;
    if (bits == 32) {
        for (int64_t k = from; k < to; k++) {
            negative |= narrow[k];
            beyond |= ~narrow[k] & (last - (narrow[k] & INT32_MAX));
        }
        return (struct signs){negative, beyond};
    }
    for (int64_t k = from; k < to; k++) {
        wide_negative |= wide[k];
        wide_beyond |= ~wide[k] & (wide_last - (wide[k] & INT64_MAX));
    }
    return (struct signs){wide_negative, wide_beyond};
}

/* First place in [from, to) whose id is not below the number of segments, or `to`. */
static int64_t first_beyond(struct plan *plan, int64_t from, int64_t to)
{
    const void *ids = plan->segment_ids->data;
    int bits = tensor_index_bits(plan->segment_ids);
    int64_t segments = plan->output.shape[0];
    for (int64_t k = from, end; k < to; k = end) {
        end = to - k < BLOCK ? to : k + BLOCK;
        struct signs signs = bits == 32 ? scan_block(ids, 32, segments, k, end)
                                        : scan_block(ids, 64, segments, k, end);
        plan->rows.left_out |= signs.negative < 0;
        if (signs.beyond >= 0)
            continue;
        while (index_load(ids, bits, k) < segments)
            k++;
        return k;
    }
    return to;
}

static enum error_code check_any_order(struct plan *plan, struct error *error)
{
    int64_t count = plan->rows.count;
    plan->rows.left_out = false;
    for (int64_t k = 0, end; k < count; k = end) {
        end = count - k < PLAN_STOP_ELEMENTS ? count : k + PLAN_STOP_ELEMENTS;
        int64_t bad = first_beyond(plan, k, end);
        if (bad < end)
            return fault_segment(plan, bad, error);
        if (plan_stopped(plan))
            return fault_cancelled(error);
    }
    plan->rows.destination = plan->segment_ids->data;
    plan->rows.destination_bits = tensor_index_bits(plan->segment_ids);
    return ERROR_NONE;
}

enum error_code check_segment_ids(struct plan *plan, struct error *error)
{
    if (!plan->segment_ids)
        return ERROR_NONE;
    return plan->ids_in_any_order ? check_any_order(plan, error) : check_sorted(plan, error);
}
