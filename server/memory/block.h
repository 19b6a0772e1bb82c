/* block: recycled memory. Touching fresh pages costs more than computing on them, so a block goes
 * back to a list of its size and is handed out again while warm. Blocks that were not needed for a
 * while go back to the system. */
#ifndef SERVER_MEMORY_BLOCK_H
#define SERVER_MEMORY_BLOCK_H

#include "kernels/backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* One allocation; its owner is whoever got it. */
struct block {
    struct block *next; /* the owner's, or the free list's */
    size_t capacity;    /* of bytes[] */
    size_t used;        /* the owner's */
    int size_class;
    bool is_pinned; /* by blocks->pinned_for */
    _Alignas(TENSOR_ALIGNMENT) char bytes[];
};

enum {
    BLOCK_SMALL_CLASSES = 8,      /* 16 KiB, 32 KiB .. 2 MiB */
    BLOCK_LARGE_CLASSES = 8 * 19, /* then eighths of an octave, up to 1 TiB */
    BLOCK_CLASSES = BLOCK_SMALL_CLASSES + BLOCK_LARGE_CLASSES
};

struct block_list {
    pthread_mutex_t lock;
    struct block *free; /* last in, first out: the warmest is taken first */
    size_t count;
    size_t least; /* lowest `count` since the last trim: so many blocks were not needed */
};

struct blocks {
    struct block_list lists[BLOCK_CLASSES];
    size_t cache_bytes; /* most that the lists hold together */
    atomic_size_t cached_bytes, allocated_bytes;
    const struct backend *pinned_for; /* NULL: no block is pinned */
    size_t pinned_from;
};

void blocks_init(struct blocks *blocks, size_t cache_bytes);

/* Blocks of at least `bytes` that are allocated after this call are pinned for the backend's
 * copies, where it can. Called before any thread starts. */
void blocks_pin(struct blocks *blocks, const struct backend *backend, size_t bytes);

/* Frees the cache. All blocks must have been put back. */
void blocks_release(struct blocks *blocks);

/* A block of at least `bytes`, or NULL. Contents undefined, used = 0, next = NULL. */
struct block *blocks_get(struct blocks *blocks, size_t bytes);

void blocks_put(struct blocks *blocks, struct block *block);

/* Bytes that a block for `bytes` occupies; SIZE_MAX when no block is so large. */
size_t blocks_cost(size_t bytes);
size_t block_cost(const struct block *block);

/* Gives blocks that were not needed since the last call back to the system. Called every few
 * seconds. */
void blocks_trim(struct blocks *blocks);

#endif
