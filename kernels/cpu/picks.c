#include "kernels/cpu/picks.h"
#include "kernels/flatten.h"

#include <string.h>

ALWAYS_INLINE void pick_owned(struct picks *p, const struct share *share, int bits, int64_t end)
{
    const void *destination = share->plan->rows.destination;
    int64_t count = p->count, low = share->low;
    uint64_t rows = (uint64_t)(share->high - low);
    for (int64_t k = p->next; k < end; k++) {
        int64_t row = index_load(destination, bits, k);
        p->row[count] = row;
        p->update[count] = k;
        count += (uint64_t)row - (uint64_t)low < rows;
    }
    p->count = count;
}

ALWAYS_INLINE void pick_all(struct picks *p, const struct share *share, int bits, int64_t end)
{
    const void *destination = share->plan->rows.destination;
    for (int64_t i = 0; i < end - p->next; i++) {
        p->row[p->count + i] = index_load(destination, bits, p->next + i);
        p->update[p->count + i] = p->next + i;
    }
    p->count += end - p->next;
}

static void pick(struct picks *p, const struct share *share, int64_t end)
{
    bool narrow = share->plan->rows.destination_bits == 32;
    if (share->all)
        narrow ? pick_all(p, share, 32, end) : pick_all(p, share, 64, end);
    else
        narrow ? pick_owned(p, share, 32, end) : pick_owned(p, share, 64, end);
    p->next = end;
}

static void drop(struct picks *p, int64_t used)
{
    p->count -= used;
    memmove(p->row, p->row + used, (size_t)p->count * sizeof p->row[0]);
    memmove(p->update, p->update + used, (size_t)p->count * sizeof p->update[0]);
}

int64_t picks_more(struct picks *p, const struct share *share, int64_t used)
{
    int64_t all = share->plan->rows.count;
    int64_t step = PLAN_STOP_ELEMENTS / share->columns;
    step = step < 1 ? 1 : step > PICKS_BLOCK ? PICKS_BLOCK : step;
    drop(p, used);
    while (p->next < all && p->count <= PICKS_AHEAD) {
        if (plan_stopped(share->plan))
            return 0;
        pick(p, share, all - p->next < step ? all : p->next + step);
    }
    if (p->next < all)
        return p->count - PICKS_AHEAD;
    for (int i = 0; i < PICKS_AHEAD && p->count > 0; i++) {
        p->row[p->count + i] = p->row[p->count - 1];
        p->update[p->count + i] = p->update[p->count - 1];
    }
    return p->count;
}
