/* arena: the memory of one request, freed as a whole. An arena is a chain of recycled blocks. A
 * block's cost is reserved in the budget before the block is taken, except for the home block's:
 * every request has one, so connections bound their number. */
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

/* Gives back every block but the home block, and the blocks' reservation. */
void arena_release(struct arena *arena);

/* Memory, TENSOR_ALIGNMENT-aligned; NULL when there is none, or none in the budget. */
void *arena_get(struct arena *arena, size_t bytes);

/* Makes sure that the next calls of arena_get, for `bytes` in all, each rounded up to
 * TENSOR_ALIGNMENT, succeed. */
MUST_CHECK bool arena_reserve(struct arena *arena, size_t bytes);

/* The budget that has no room for `bytes` more, and the name of its setting. */
const struct budget *arena_bound(const struct arena *arena, size_t bytes, const char **setting);

/* Adds a block for `bytes`; NULL as arena_get. */
struct block *arena_add(struct arena *arena, size_t bytes);

/* The block of the chain in which `p` lies; NULL: none, or the home block. */
struct block *arena_find(const struct arena *arena, const void *p);

/* Takes a block out of the chain for good: it is the caller's, and what it costs is charged to `to`
 * instead. False when `to` has no room; then nothing has changed. */
MUST_CHECK bool arena_give(struct arena *arena, struct block *block, struct budget *to);

/* Takes a block out of the chain and gives it back early. */
void arena_drop(struct arena *arena, struct block *block);

#endif
