/* picks: the updates that a share applies, picked from the request's without a branch that could be
 * guessed wrong, and known some way ahead, so that their rows can be prefetched. */
#ifndef KERNELS_CPU_PICKS_H
#define KERNELS_CPU_PICKS_H

#include "kernels/cpu/level.h"

enum {
    PICKS_BLOCK = 512, /* updates looked at in one step */
    PICKS_AHEAD = 64   /* rows between a prefetch and its use */
};

struct picks {
    int64_t count;                              /* in row[] and update[], oldest first */
    int64_t next;                               /* the first update that was not looked at */
    int64_t row[PICKS_BLOCK + 2 * PICKS_AHEAD]; /* of the output */
    int64_t update[PICKS_BLOCK + 2 * PICKS_AHEAD];
};

/* Drops the first `used` picks, looks at the next updates, and returns how many picks may be used
 * now: behind them row[] and update[] go on for PICKS_AHEAD more, which may be prefetched. 0 means
 * that there are no more, or that the work is to stop. */
int64_t picks_more(struct picks *p, const struct share *share, int64_t used);

#endif
