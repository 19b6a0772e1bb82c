/* tensor: a dense, row-major view. It owns nothing. */
#ifndef KERNELS_TENSOR_H
#define KERNELS_TENSOR_H

#include "kernels/dtype.h"
#include "kernels/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tensor {
    enum dtype dtype; /* DTYPE_NONE: absent */
    int rank;         /* 0 .. RANK_MAX; 0 is one element */
    int64_t shape[RANK_MAX];
    void *data; /* aligned to its element; BYTES: an array of struct span */
};

/* Product of shape[from..to), checked. false when it exceeds INT64_MAX (a zero anywhere makes it 0,
 * however large the others are) or a dimension is negative. */
bool shape_product(const int64_t *shape, int from, int to, int64_t *product)
    __attribute__((warn_unused_result));

/* Number of elements and bytes in memory; false on overflow. */
bool tensor_count(const struct tensor *t, int64_t *count) __attribute__((warn_unused_result));
bool tensor_bytes(const struct tensor *t, size_t *bytes) __attribute__((warn_unused_result));

/* Bits of an element of an INT32 or INT64 tensor of indices. */
static inline int tensor_index_bits(const struct tensor *t)
{
    return t->dtype == DTYPE_INT32 ? 32 : 64;
}

enum { SHAPE_TEXT_MAX = RANK_MAX * 22 + 3 }; /* 20 characters and ", " for each number */

/* Writes "[2, 3]" and returns `text`, which holds SHAPE_TEXT_MAX bytes. */
const char *shape_print(char *text, const int64_t *shape, int rank);

#endif
