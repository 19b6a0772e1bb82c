/* cell: a row of the performance table, made real. */
#ifndef TESTS_GPU_SUPPORT_CELL_H
#define TESTS_GPU_SUPPORT_CELL_H

#include "kernels/plan.h"

struct cell {
    const char *name, *op;
    enum dtype dtype;
    int64_t updates, rows, width;
    int64_t segments; /* 0: not a segment operation */
    int depth;
    bool one_row; /* all updates go to one row */
};

/* Its inputs on the host, and two plans of them: for the device, and for the CPU with all cores. */
struct work {
    struct cell cell;
    struct tensor inputs[OP_INPUTS_MAX];
    void *indices; /* as they were made */
    struct plan plan, cpu;
    size_t moved_bytes; /* each byte that must be read or written, once */
};

/* `scale` divides updates and rows. Ends the program where there is no memory. */
void work_init(struct work *w, const struct cell *cell, int64_t scale);
void work_release(struct work *w);

/* A run may overwrite the indices: they are as they were made again. */
void work_restore(struct work *w);

#endif
