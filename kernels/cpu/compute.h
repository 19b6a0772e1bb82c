/* compute: a whole run on the CPU, at a level and with a split. The backend's run chooses both. */
#ifndef KERNELS_CPU_COMPUTE_H
#define KERNELS_CPU_COMPUTE_H

#include "kernels/cpu/split.h"

/* Checks the plan's elements and computes plan->output. split NULL: split_choose. Errors: see
 * struct backend. */
MUST_CHECK enum error_code compute_run(struct plan *plan, const struct level *level,
                                       const struct split *split, struct error *error);

/* Whether the level has a kernel for such plans. */
bool compute_has_kernel(const struct level *level, const struct kernel_key *key);

#endif
