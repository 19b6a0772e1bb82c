/* pairs: where a segment's pairs of index and id begin. The ids are sorted. */
#ifndef KERNELS_CPU_PAIRS_H
#define KERNELS_CPU_PAIRS_H

#include "kernels/flatten.h"
#include "kernels/plan.h"

static inline int pairs_id_bits(const struct plan *plan)
{
    return plan->segment_ids->dtype == DTYPE_INT32 ? 32 : 64;
}

/* The first pair whose id is not below `id`. */
static inline int64_t pairs_first(const struct plan *plan, int64_t id)
{
    int bits = pairs_id_bits(plan);
    int64_t low = 0, high = plan->rows.count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (index_load(plan->segment_ids->data, bits, middle) < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
