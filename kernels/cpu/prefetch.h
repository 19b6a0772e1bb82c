/* prefetch: rows that are going to be needed. */
#ifndef KERNELS_CPU_PREFETCH_H
#define KERNELS_CPU_PREFETCH_H

#include "kernels/inline.h"

#include <stddef.h>
#include <stdint.h>

/* The processor itself follows a row that is longer than this. */
enum { PREFETCH_MAX_BYTES = 512, CACHE_LINE_BYTES = 64 };

ALWAYS_INLINE void prefetch_to_read(const void *row, size_t bytes)
{
    for (size_t at = 0; at < bytes && at < PREFETCH_MAX_BYTES; at += CACHE_LINE_BYTES)
        __builtin_prefetch((const char *)row + at, 0);
}

ALWAYS_INLINE void prefetch_to_write(const void *row, size_t bytes)
{
    for (size_t at = 0; at < bytes && at < PREFETCH_MAX_BYTES; at += CACHE_LINE_BYTES)
        __builtin_prefetch((const char *)row + at, 1);
}

#endif
