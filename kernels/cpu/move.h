/* move: kernels that copy rows whatever their elements are: only a row's bytes matter. */
#ifndef KERNELS_CPU_MOVE_H
#define KERNELS_CPU_MOVE_H

#include "kernels/cpu/level.h"

/* COMBINE_SET: copies the updates that the share owns to their rows, in order. */
void move_set(const struct share *share);

/* Copies to each row of the share its first update. met: whether a row had one, as it was before
 * and is then. */
void move_first(const struct share *share, unsigned char *met);

/* Copies the rows that indices [low, high) name; zeros for row -1. */
void move_gather(const struct share *share);

#endif
