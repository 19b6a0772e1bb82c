/* tally: what a scatter must know of an output row besides its elements: whether an update came
 * before, or how many did. It lies in the plan's scratch; a thread keeps it for the rows of its
 * share, all of their columns. */
#ifndef KERNELS_CPU_TALLY_H
#define KERNELS_CPU_TALLY_H

#include "kernels/cpu/level.h"

/* Makes sums that are kept apart 0. */
void tally_start(const struct share *share);

/* Copies to each row of the share its first update; for plans that start from_first. */
void tally_first(const struct share *share);

/* The float sums, in the output's order; for plans that have sums_bytes. */
float *tally_sums(const struct plan *plan);

/* How many updates each row has, counted for those of the share: element i is row i. */
const int64_t *tally_count(const struct share *share);

#endif
