/* arena: the memory of one request, freed as a whole. It is a chain of recycled blocks; what they
 * cost is reserved in the budget before they are taken, except for the first, the home block, which
 * every request has and which is bounded by the number of connections. */
#ifndef SERVER_MEMORY_ARENA_H
#define SERVER_MEMORY_ARENA_H

#include "kernels/error.h"
#include "proto/work.h"
#include "server/memory/block.h"
#include "server/memory/budget.h"

#include <stdbool.h>
#include <stddef.h>

struct arena {
    struct memory memory; /* first: proto gets its memory here */
    struct blocks *blocks;
    struct budget *budget;
    struct budget *share; /* the client's part of the budget; NULL: all of it */
    struct block *chain;  /* newest first; the home block is last */
    size_t reserved_bytes;
    bool small; /* may draw on the part of the budget that is kept for small requests */
};

/* Takes over `home`. */
void arena_init(struct arena *arena, struct blocks *blocks, struct budget *budget,
                struct block *home);

/* Everything but the home block goes back, and with it the reservation. */
void arena_release(struct arena *arena);

/* TENSOR_ALIGNMENT-aligned; NULL when there is no memory, or none in the budget. */
void *arena_get(struct arena *arena, size_t bytes);

/* Sees to it that the next calls of arena_get for `bytes` in all, each rounded up to
 * TENSOR_ALIGNMENT, succeed. */
MUST_CHECK bool arena_reserve(struct arena *arena, size_t bytes);

/* Which bound is in the way of `bytes` more, and the setting that it comes from. */
const struct budget *arena_bound(const struct arena *arena, size_t bytes, const char **setting);

/* A block of its own in the chain; NULL as above. */
struct block *arena_add(struct arena *arena, size_t bytes);

/* Takes a block out of the chain and gives it back early. */
void arena_drop(struct arena *arena, struct block *block);

#endif
