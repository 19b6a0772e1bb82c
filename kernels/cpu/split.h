/* split: how the threads of a team share a plan's work.
 *
 * The model. Every thread walks all rows of a scatter's indices and applies those that it owns; so
 * what a walk costs is paid by each thread, what the rows cost is shared:
 *
 *     time(1)           = updates * (picked + row)          + start
 *     time(T, rows)     = updates * (picked + row * S)      + start / T + TEAM
 *     time(T, columns)  = updates * (picked + row of 1/T)   + start / T + TEAM
 *
 * S is the busiest thread's part of the updates: what a sample of the destinations says, so that
 * duplicates of few rows lead to columns. Segments and gathers share the walk, too; of segments S
 * is known exactly. Single elements of a cached table are not even picked by one thread. The
 * fastest form wins. What differs from one processor to the next (its caches, what a cache line and
 * a team cost) is in plan.options.machine.
 */
#ifndef KERNELS_CPU_SPLIT_H
#define KERNELS_CPU_SPLIT_H

#include "kernels/cpu/level.h"

struct split {
    int threads;
    bool columns; /* each thread owns columns of every row; else rows */
    bool streams; /* a scatter's start value is written past the caches */
};

/* Chooses from the plan's shape, its options.threads, and a sample of its destinations. After
 * check_run; there are rows and they have elements. */
struct split split_choose(const struct plan *plan);

/* Thread i's part of the work. */
struct share split_share(const struct plan *plan, const struct split *split, int i);

/* PLAN_SEGMENT: the first pair whose segment is not below `row`. */
int64_t split_first_pair(const struct plan *plan, int64_t row);

/* The rows of a scatter's output that thread i starts and ends, all of their columns: those that it
 * owns, when it owns rows. */
struct share split_rows(const struct plan *plan, const struct split *split, int i);

#endif
