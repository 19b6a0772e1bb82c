/* flatten: reading indices and row numbers of 32 or 64 bits, what an index tuple addresses, and
 * where an id stands among sorted ones. The same text on every device. Called with constant `bits`
 * and `depth` it compiles to the loop for them. */
#ifndef KERNELS_FLATTEN_H
#define KERNELS_FLATTEN_H

#include "kernels/inline.h"

#include <stdbool.h>
#include <stdint.h>

ALWAYS_INLINE HD int64_t index_load(const void *indices, int bits, int64_t i)
{
    return bits == 32 ? ((const int32_t *)indices)[i] : ((const int64_t *)indices)[i];
}

ALWAYS_INLINE HD void index_store(void *indices, int bits, int64_t i, int64_t v)
{
    if (bits == 32)
        ((int32_t *)indices)[i] = (int32_t)v;
    else
        ((int64_t *)indices)[i] = v;
}

/* A component is inside iff 0 <= v < bound; negative values never wrap. */
ALWAYS_INLINE HD bool index_inside(int64_t v, int64_t bound)
{
    return (uint64_t)v < (uint64_t)bound;
}

/* The row number of tuple k, row-major over bound[0..depth), or -1 when a component is outside. */
ALWAYS_INLINE HD int64_t flatten(const void *indices, int bits, int64_t k, int depth,
                                 const int64_t *bound)
{
    bool inside = true;
    uint64_t row = 0;
    for (int i = 0; i < depth; i++) {
        int64_t v = index_load(indices, bits, k * depth + i);
        inside &= index_inside(v, bound[i]);
        row = row * (uint64_t)bound[i] + (uint64_t)v;
    }
    return inside ? (int64_t)(row & INT64_MAX) : -1;
}

/* The first of `count` sorted ids that is not below `bound`, or `count`. */
ALWAYS_INLINE HD int64_t ids_first_not_below(const void *ids, int bits, int64_t count,
                                             int64_t bound)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (index_load(ids, bits, middle) < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
