/* level: the kernels of one instruction set level. The same texts are compiled for each level; what
 * they compute has the same bits. A kernel works on one thread's share of the work and on a block
 * of it at a time, between looks at plan.options.stop. */
#ifndef KERNELS_CPU_LEVEL_H
#define KERNELS_CPU_LEVEL_H

#include "kernels/plan.h"

/* A thread's share of a scatter: of the output's rows [low, high) the columns [column,
 * column + columns). Updates to other rows, and to row -1, are somebody else's. */
struct share {
    const struct rows *rows;
    void *out;
    const void *updates;
    int64_t low, high;
    int64_t column, columns;
};

/* Applies updates [from, to), in order. */
typedef void scatter_kernel(enum combine combine, const struct share *share, int64_t from,
                            int64_t to);

/* The same for COMBINE_SET of elements of any kind. */
typedef void set_kernel(size_t element_bytes, const struct share *share, int64_t from, int64_t to);

/* Copies rows [from, to) of the indices from `table` to `out`; zeros for row -1. */
typedef void gather_kernel(size_t row_bytes, const struct rows *rows, const void *table, void *out,
                           int64_t from, int64_t to);

struct segments {
    const struct rows *rows;
    const void *data;
    const void *ids;
    int id_bits;
    void *out;
    enum finish finish;
};

/* Computes output rows [low, high); the ids at pair `from` and after are >= low. Returns the first
 * pair that it did not use. */
typedef int64_t segment_kernel(const struct segments *segments, int64_t low, int64_t high,
                               int64_t from);

struct level {
    const char *name;
    scatter_kernel *scatter[DTYPE_COUNT];
    segment_kernel *segment[DTYPE_COUNT];
    set_kernel *set;
    gather_kernel *gather;
};

/* The best level that this processor has. */
const struct level *level_best(void);

#endif
