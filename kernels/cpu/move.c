#include "kernels/cpu/move.h"
#include "kernels/cpu/picks.h"
#include "kernels/cpu/prefetch.h"
#include "kernels/flatten.h"

#include <string.h>

/* Row sizes that become a few vectors, without a call. */
#define MOVE_BYTES(X) X(1) X(2) X(4) X(8) X(16) X(32) X(64) X(128)

ALWAYS_INLINE void set_rows(const struct share *share, size_t bytes)
{
    size_t element = dtype_bytes(share->plan->dtype), n = 0;
    size_t row_bytes = (size_t)share->plan->rows.width * element,
           offset = (size_t)share->column * element;
    char *restrict out = (char *)share->plan->output.data + offset;
    const char *restrict updates = (const char *)share->plan->values->data + offset;
    struct picks picks;
    picks.count = picks.next = 0;
    while ((n = (size_t)picks_more(&picks, share, (int64_t)n)) > 0)
        for (size_t i = 0; i < n; i++) {
            prefetch_row(out, picks.row[i + PICKS_AHEAD], row_bytes, bytes);
            prefetch_next(updates, picks.update[i + PICKS_AHEAD], row_bytes, bytes);
            memcpy(out + (size_t)picks.row[i] * row_bytes,
                   updates + (size_t)picks.update[i] * row_bytes, bytes);
        }
}

void move_set(const struct share *share)
{
    size_t bytes = (size_t)share->columns * dtype_bytes(share->plan->dtype);
    switch (bytes) {
#define X(BYTES)                                                                                   \
    case BYTES:                                                                                    \
        set_rows(share, BYTES);                                                                    \
        break;
        MOVE_BYTES(X)
#undef X
    default:
        set_rows(share, bytes);
    }
}

ALWAYS_INLINE void first_rows(const struct share *share, unsigned char *met, size_t bytes)
{
    char *restrict out = share->plan->output.data;
    const char *restrict updates = share->plan->values->data;
    int64_t n = 0;
    struct picks picks;
    picks.count = picks.next = 0;
    while ((n = picks_more(&picks, share, n)) > 0)
        for (int64_t i = 0; i < n; i++) {
            int64_t row = picks.row[i];
            prefetch_row(met, picks.row[i + PICKS_AHEAD], 1, 1);
            if (met[row])
                continue;
            met[row] = 1;
            memcpy(out + (size_t)row * bytes, updates + (size_t)picks.update[i] * bytes, bytes);
        }
}

void move_first(const struct share *share, unsigned char *met)
{
    size_t bytes = (size_t)share->columns * dtype_bytes(share->plan->dtype);
    switch (bytes) {
#define X(BYTES)                                                                                   \
    case BYTES:                                                                                    \
        first_rows(share, met, BYTES);                                                             \
        break;
        MOVE_BYTES(X)
#undef X
    default:
        first_rows(share, met, bytes);
    }
}

ALWAYS_INLINE void gather_rows(const struct share *share, int bits, size_t bytes, int64_t from,
                               int64_t to)
{
    const void *destination = share->plan->rows.destination;
    const char *restrict table = share->plan->values->data;
    char *restrict out = share->plan->output.data;
    for (int64_t k = from; k < to; k++) {
        int64_t row = index_load(destination, bits, k);
        if (k + PICKS_AHEAD < share->high)
            prefetch_row(table, index_load(destination, bits, k + PICKS_AHEAD), bytes, bytes);
        if (row >= 0)
            memcpy(out + (size_t)k * bytes, table + (size_t)row * bytes, bytes);
        else
            memset(out + (size_t)k * bytes, 0, bytes);
    }
}

static void gather_block(const struct share *share, int bits, size_t bytes, int64_t from,
                         int64_t to)
{
    bool narrow = bits == 32;
    switch (bytes) {
#define X(BYTES)                                                                                   \
    case BYTES:                                                                                    \
        narrow ? gather_rows(share, 32, BYTES, from, to)                                           \
               : gather_rows(share, 64, BYTES, from, to);                                          \
        break;
        MOVE_BYTES(X)
#undef X
    default:
        gather_rows(share, bits, bytes, from, to);
    }
}

/* D = 0: every row is a copy of the whole table. */
static void copy_table(const struct share *share, size_t bytes)
{
    char *out = share->plan->output.data;
    for (int64_t k = share->low; k < share->high && !plan_stopped(share->plan); k++)
        memcpy(out + (size_t)k * bytes, share->plan->values->data, bytes);
}

void move_gather(const struct share *share)
{
    const struct rows *rows = &share->plan->rows;
    size_t bytes = (size_t)rows->width * dtype_bytes(share->plan->dtype);
    int64_t step = PLAN_STOP_ELEMENTS / rows->width + 1;
    if (rows->depth == 0) {
        copy_table(share, bytes);
        return;
    }
    for (int64_t k = share->low; k < share->high && !plan_stopped(share->plan); k += step)
        gather_block(share, rows->destination_bits, bytes, k,
                     share->high - k < step ? share->high : k + step);
}
