/* kernel_run: one operation on a backend, in memory with guard bytes around it and on a lane of its
 * own. */
#ifndef TESTS_SUPPORT_KERNELS_KERNEL_RUN_H
#define TESTS_SUPPORT_KERNELS_KERNEL_RUN_H

#include "kernels/backend.h"
#include "kernels/cpu/split.h"

#include <stdbool.h>
#include <stddef.h>

/* What to run. Inputs are copied first, so that they can be used again. */
struct kernel_run {
    const struct backend *backend; /* where it can run the plan, else, and if NULL: the CPU */
    struct lane *lane;             /* of that backend; NULL: one for this run alone */
    const atomic_bool *stop;
    const char *op;
    const struct op *row; /* instead of the table's row of that name; NULL: that one */
    struct tensor inputs[OP_INPUTS_MAX]; /* in the op's order */
    bool ignore_bad;
    bool in_place; /* where the op starts from a copy: in that tensor's own copy */
    int threads;   /* 0: 1 */
    size_t limit;  /* 0: 1 GiB */
    bool flat;     /* row numbers of tuples go to scratch, as with many rows */

    /* For tests of the CPU's parts: NULL: the backend decides both. */
    const struct level *level;
    struct split split;            /* threads 0: as the model chooses */
    const struct machine *machine; /* for the model; NULL: machine_typical */

    /* by kernel_run_do: */
    struct plan plan;
    struct error error;
    const struct backend *ran_on; /* NULL: it came to no backend */
    bool is_broken;               /* the lane was, afterwards */
    bool guards_hold;             /* nothing was written outside of output, scratch and inputs */
    void *blocks[OP_INPUTS_MAX + 2];
};

/* Returns the error's code. `plan.output` is valid until kernel_run_release. */
enum error_code kernel_run_do(struct kernel_run *run);

void kernel_run_release(struct kernel_run *run);

#endif
