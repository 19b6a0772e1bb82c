/* prefetch: `bytes` of rows that are going to be read, or read and written. `row` may be -1, one
 * that is left out: what lies there is not touched, its address is a number and never a pointer. */
#ifndef KERNELS_CPU_PREFETCH_H
#define KERNELS_CPU_PREFETCH_H

#include "kernels/inline.h"

#include <stddef.h>
#include <stdint.h>

enum {
    CACHE_LINE_BYTES = 64,
    PREFETCH_MAX_BYTES = 512 /* the processor itself follows a row that is longer */
};

/* Into the second-level cache, which waits for more lines at once than the first. A line that no
 * other core has may be written as well, so that one kind of prefetch does for both. */
ALWAYS_INLINE void prefetch_row(const void *table, int64_t row, size_t row_bytes, size_t bytes)
{
    uintptr_t first = (uintptr_t)table + (size_t)row * row_bytes;
    for (size_t at = 0; at < bytes && at < PREFETCH_MAX_BYTES; at += CACHE_LINE_BYTES)
        __builtin_prefetch((const void *)(first + at), 0, 2);
}

/* Fetches a row into the first-level cache, a few rows before it is read. */
ALWAYS_INLINE void prefetch_soon(const void *table, int64_t row, size_t row_bytes, size_t bytes)
{
    uintptr_t first = (uintptr_t)table + (size_t)row * row_bytes;
    for (size_t at = 0; at < bytes && at < PREFETCH_MAX_BYTES; at += CACHE_LINE_BYTES)
        __builtin_prefetch((const void *)(first + at), 0, 3);
}

/* prefetch_row for rows that are read one after the other, with gaps: of shorter ones each line
 * would be asked for several times, and the processor follows them well. */
ALWAYS_INLINE void prefetch_next(const void *table, int64_t row, size_t row_bytes, size_t bytes)
{
    if (bytes >= CACHE_LINE_BYTES)
        prefetch_row(table, row, row_bytes, bytes);
}

#endif
