/* move: kernels that copy rows whatever their elements are: only a row's bytes matter. */
#ifndef KERNELS_CPU_MOVE_H
#define KERNELS_CPU_MOVE_H

#include "kernels/cpu/level.h"

/* COMBINE_SET: copies the updates that the share owns to their rows, in order. */
void move_set(const struct share *share);

/* Copies the rows that indices [low, high) name; zeros for row -1. */
void move_gather(const struct share *share);

#endif
