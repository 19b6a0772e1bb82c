/* needs: what a plan takes on the device, known before anything is allocated. */
#ifndef KERNELS_CUDA_NEEDS_H
#define KERNELS_CUDA_NEEDS_H

#include "kernels/cuda/lane.h"

/* Whether the device has kernels for the plan: BYTES stay on the CPU, and so does what needs more
 * than 32 bits to number its rows, updates or segments. */
bool needs_fit(const struct plan *plan);

/* Whether the order of updates to one row can show in the result of a scatter. */
bool needs_order(const struct plan *plan);

/* Whether updates are folded in runs, as segments are, even where no row is met twice: so are those
 * that are divided. */
bool needs_runs(const struct plan *plan);

/* Whether the device has a kernel for such plans, where needs_fit lets them come here. */
bool needs_kernel(const struct kernel_key *key);

/* Whether the output must be filled with plan->empty first. */
bool needs_empty(const struct plan *plan);

/* Bytes of BUFFER_OUTPUT: whole words, because BOOLs are or'ed by words. */
size_t needs_output_bytes(const struct plan *plan);

/* Bytes of BUFFER_FOUND. */
size_t needs_found_bytes(const struct plan *plan);

/* Bytes of each buffer. Fails where the sort cannot say what it needs. */
cudaError_t needs_of(const struct plan *plan, size_t needs[BUFFER_COUNT]);

/* Bytes of all buffers together, for admission; SIZE_MAX when that is too much to count. */
size_t needs_total(const struct plan *plan);

#endif
