/* tally: what a scatter must know of an output row besides its elements: whether an update came
 * before, or how many did. It lies in the plan's scratch; a thread keeps it for the rows of its
 * share, all of their columns. */
#ifndef KERNELS_CPU_TALLY_H
#define KERNELS_CPU_TALLY_H

#include "kernels/cpu/level.h"

/* Makes rows that hold their start value ready for updates: one that starts from its first update
 * holds that, and sums that are kept apart are 0. */
void tally_start(const struct share *share);

/* The float sums, in the output's order; for plans that have sums_bytes. */
float *tally_sums(const struct plan *plan);

/* How many updates each row has, counted for those of the share: element i is row i. */
const int64_t *tally_count(const struct share *share);

#endif
