/* kernel_run: one operation on the CPU backend, in memory with guard bytes around it. */
#ifndef TESTS_SUPPORT_KERNEL_RUN_H
#define TESTS_SUPPORT_KERNEL_RUN_H

#include "kernels/plan.h"

#include <stdbool.h>
#include <stddef.h>

/* What to run. Inputs are copied first, so that they can be used again. */
struct kernel_run {
    const char *op;
    struct tensor inputs[OP_INPUTS_MAX]; /* in the op's order */
    bool ignore_bad;
    bool in_place; /* where the op starts from a copy: in that tensor's own copy */
    int threads;   /* 0: 1 */
    size_t limit;  /* 0: 1 GiB */

    /* by kernel_run_do: */
    struct plan plan;
    struct error error;
    bool guards_hold; /* nothing was written outside of output, scratch and inputs */
    void *blocks[OP_INPUTS_MAX + 2];
};

/* Returns the error's code. `plan.output` is valid until kernel_run_release. */
enum error_code kernel_run_do(struct kernel_run *run);

void kernel_run_release(struct kernel_run *run);

#endif
