/* limits: bounds that every floor shares. */
#ifndef KERNELS_LIMITS_H
#define KERNELS_LIMITS_H

#include <stdint.h>

enum {
    RANK_MAX = 16,        /* dimensions of a tensor */
    TENSOR_ALIGNMENT = 64 /* of every block and of every output that we allocate, in bytes */
};

/* Largest dimension: the largest integer that all readers of JSON, which tells shapes, agree on
 * (RFC 7493, 2.2). */
#define DIMENSION_MAX (((int64_t)1 << 53) - 1)

#endif
