/* random_case: a random operation, made from a number: the same number, the same case. Most are
 * right; some have a bad index, bad segment ids or a zero to divide by. */
#ifndef TESTS_GPU_SUPPORT_RANDOM_CASE_H
#define TESTS_GPU_SUPPORT_RANDOM_CASE_H

#include "tests/support/kernels/kernel_run.h"

enum size {
    SIZE_TINY,   /* up to ten updates */
    SIZE_SORTED, /* more updates than one block ranks */
    SIZE_SKEWED, /* hundreds of updates to few rows */
    SIZE_WIDE,   /* few rows of hundreds of elements */
    SIZE_TILES,  /* more updates than one block of the radix sort takes */
    SIZE_COUNT
};

struct random_case {
    struct kernel_run run;
    void *memory[OP_INPUTS_MAX]; /* owned */
};

/* `row`: the operation; NULL: any of the table. */
void random_case_make(struct random_case *c, const struct op *row, uint64_t seed, enum size size);
void random_case_release(struct random_case *c);

/* Makes, runs on the CPU and on the backend, and compares: the same bits, the same count of ignored
 * rows, the same error in all its members. Fails the test where it differs. `lane` may be NULL:
 * a fresh one. */
void random_case_check(const struct backend *backend, struct lane *lane, const struct op *row,
                       uint64_t seed, enum size size);

#endif
