/* run: one plan on its way through the device, in the steps that a benchmark times one by one. */
#ifndef KERNELS_CUDA_RUN_H
#define KERNELS_CUDA_RUN_H

#include "kernels/cuda/lane.h"

struct run {
    struct lane *lane;
    struct plan *plan;
    size_t row_bytes; /* of a row of `rows.width` elements */
};

/* Makes the lane's buffers large enough. Errors: RESOURCE_EXHAUSTED INTERNAL. */
MUST_CHECK enum error_code run_prepare(struct run *run, struct lane *lane, struct plan *plan,
                                       struct error *error);

/* Launches the check of what BUFFER_INDICES, BUFFER_IDS and, for an integer division,
 * BUFFER_VALUES hold. What it finds is in BUFFER_FOUND. */
cudaError_t run_launch_check(const struct run *run);

/* Launches what makes BUFFER_OUTPUT hold plan->empty. */
cudaError_t run_launch_empty(const struct run *run);

/* Launches what computes BUFFER_OUTPUT, which holds the start value, from BUFFER_VALUES. The
 * check's verdict must have been read back to lane->verdict, and be good. */
cudaError_t run_launch_apply(const struct run *run);

#endif
