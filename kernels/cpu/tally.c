#include "kernels/cpu/tally.h"
#include "kernels/cpu/move.h"
#include "kernels/cpu/picks.h"
#include "kernels/cpu/prefetch.h"
#include "kernels/flatten.h"

#include <string.h>

float *tally_sums(const struct plan *plan)
{
    return plan_kernel_scratch(plan);
}

/* Behind the sums. */
static void *rows_of(const struct plan *plan)
{
    return (char *)plan_kernel_scratch(plan) + plan->sums_bytes;
}

void tally_start(const struct share *share)
{
    const struct plan *plan = share->plan;
    int64_t rows = share->high - share->low, width = plan->rows.width;
    if (plan->sums_bytes > 0)
        memset(tally_sums(plan) + share->low * width, 0, (size_t)(rows * width) * sizeof(float));
}

void tally_first(const struct share *share)
{
    unsigned char *met = rows_of(share->plan);
    memset(met + share->low, 0, (size_t)(share->high - share->low));
    move_first(share, met);
}

static void count_picked(const struct share *share, int64_t *counts)
{
    struct picks picks;
    int64_t n = 0;
    picks.count = picks.next = 0;
    while ((n = picks_more(&picks, share, n)) > 0)
        for (int64_t i = 0; i < n; i++) {
            prefetch_row(counts, picks.row[i + PICKS_AHEAD], sizeof *counts, sizeof *counts);
            counts[picks.row[i]]++;
        }
}

static void count_direct(const struct share *share, int64_t *counts)
{
    const struct rows *rows = &share->plan->rows;
    for (int64_t k = 0, end; k < rows->count && !plan_stopped(share->plan);) {
        end = rows->count - k < PLAN_STOP_ELEMENTS ? rows->count : k + PLAN_STOP_ELEMENTS;
        for (; k < end; k++)
            counts[index_load(rows->destination, rows->destination_bits, k)]++;
    }
}

const int64_t *tally_count(const struct share *share)
{
    int64_t *counts = rows_of(share->plan);
    memset(counts + share->low, 0, (size_t)(share->high - share->low) * sizeof *counts);
    (share->direct ? count_direct : count_picked)(share, counts);
    return counts;
}
