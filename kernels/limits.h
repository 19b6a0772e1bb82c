/* limits: bounds that every floor shares. */
#ifndef KERNELS_LIMITS_H
#define KERNELS_LIMITS_H

enum {
    RANK_MAX = 16,        /* dimensions of a tensor */
    TENSOR_ALIGNMENT = 64 /* of every block and of every output that we allocate, in bytes */
};

#endif
