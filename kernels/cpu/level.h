/* level: the kernels of one instruction set level. The same texts are compiled for each level; what
 * they compute has the same bits. There is none for AVX-512: rows come from memory, and wider
 * vectors do not bring them faster. A kernel does one thread's share of the work, and ends early
 * when plan.options.stop says so. */
#ifndef KERNELS_CPU_LEVEL_H
#define KERNELS_CPU_LEVEL_H

#include "kernels/plan.h"

/* A thread's share. Scatter: of the output's rows [low, high) the columns [column, column +
 * columns); updates to other rows, and to row -1, are somebody else's. Gather: rows [low, high) of
 * the indices. Segments: rows [low, high) of the output, the same columns of each. */
struct share {
    const struct plan *plan;
    int64_t low, high;
    int64_t column, columns;
    bool all;    /* scatter: every update is to a row of the share */
    bool direct; /* scatter: all, and in the caches: nothing to pick and nothing to prefetch */
    atomic_bool *strays; /* scatter: set when an update is met that EMPTY does not become, and then
                            every thread's kernel ends; NULL: nobody asks */
};

typedef void kernel(const struct share *share);

/* Kernels of one element type; NULL for a combine that the type does not have. */
struct kernels {
    kernel *scatter[COMBINE_COUNT];
    kernel *sum;    /* half types: a scatter's sums, to be divided; NULL: scatter[COMBINE_ADD] */
    kernel *finish; /* divides a scatter's sums: of rows [low, high) all columns */
    kernel *segment[COMBINE_COUNT];
};

struct level {
    const char *name;
    const struct kernels *kernels[DTYPE_COUNT]; /* NULL for a type without arithmetic */
};

/* The best level that this processor has. */
const struct level *level_best(void);

/* All levels that this processor has, the best one last. */
int level_count(void);
const struct level *level_at(int i);

#endif
