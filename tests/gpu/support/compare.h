/* compare: the same operation on the CPU and on another backend. */
#ifndef TESTS_GPU_SUPPORT_COMPARE_H
#define TESTS_GPU_SUPPORT_COMPARE_H

#include "tests/support/kernels/kernel_run.h"

/* Runs it twice and fails the test where anything differs: the bits of the output (a NaN equals a
 * NaN), the count of ignored rows, the error in all its members. `lane` NULL: one of its own, whose
 * buffers are as large as needed and no larger. */
void compare_with_cpu(const struct kernel_run *run, const struct backend *backend,
                      struct lane *lane, const char *name);

#endif
