#include "kernels/check.h"
#include "kernels/fault.h"
#include "kernels/flatten.h"

enum { BLOCK = 1024 };

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

enum error_code check_segment_ids(struct plan *plan, struct error *error)
{
    if (plan->kind != PLAN_SEGMENT)
        return ERROR_NONE;
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
