#include "server/memory/arena.h"

#include <assert.h>
#include <stdint.h>

static void *get_from_arena(struct memory *memory, size_t bytes)
{
    return arena_get((struct arena *)memory, bytes);
}

void arena_init(struct arena *arena, struct blocks *blocks, struct budget *budget,
                struct block *home)
{
    *arena = (struct arena){.memory = {get_from_arena},
                            .blocks = blocks,
                            .budget = budget,
                            .chain = home,
                            .small = true};
}

void arena_release(struct arena *arena)
{
    while (arena->chain->next)
        arena_drop(arena, arena->chain);
    assert(arena->reserved_bytes == 0);
}

static bool reserve(struct arena *arena, size_t cost)
{
    if (arena->share && !budget_reserve(arena->share, cost, true))
        return false;
    if (budget_reserve(arena->budget, cost, arena->small))
        return true;
    if (arena->share)
        budget_give_back(arena->share, cost);
    return false;
}

static void give_back(struct arena *arena, size_t cost)
{
    budget_give_back(arena->budget, cost);
    if (arena->share)
        budget_give_back(arena->share, cost);
}

struct block *arena_add(struct arena *arena, size_t bytes)
{
    size_t cost = blocks_cost(bytes);
    if (cost == SIZE_MAX || !reserve(arena, cost))
        return NULL;
    struct block *block = blocks_get(arena->blocks, bytes);
    if (!block) {
        give_back(arena, cost);
        return NULL;
    }
    arena->reserved_bytes += cost;
    block->next = arena->chain;
    arena->chain = block;
    return block;
}

/* Takes a block out of the chain; its cost stays reserved. */
static size_t take_out(struct arena *arena, struct block *block)
{
    struct block **link = &arena->chain;
    while (*link != block)
        link = &(*link)->next;
    assert(block->next); /* the home block stays */
    *link = block->next;
    size_t cost = block_cost(block);
    arena->reserved_bytes -= cost;
    return cost;
}

void arena_drop(struct arena *arena, struct block *block)
{
    size_t cost = take_out(arena, block);
    blocks_put(arena->blocks, block);
    give_back(arena, cost);
}

struct block *arena_find(const struct arena *arena, const void *p)
{
    const char *at = p;
    for (struct block *b = arena->chain; b->next; b = b->next)
        if (at >= b->bytes && at < b->bytes + b->capacity)
            return b;
    return NULL;
}

bool arena_give(struct arena *arena, struct block *block, struct budget *to)
{
    bool is_same = to == arena->budget;
    if (!is_same && !budget_reserve(to, block_cost(block), true))
        return false;
    size_t cost = take_out(arena, block);
    if (!is_same)
        budget_give_back(arena->budget, cost);
    if (arena->share)
        budget_give_back(arena->share, cost);
    block->next = NULL;
    return true;
}

const struct budget *arena_bound(const struct arena *arena, size_t bytes, const char **setting)
{
    const struct budget *share = arena->share;
    bool is_share = share && !budget_has_room(share, blocks_cost(bytes));
    *setting = is_share ? "client_share" : "memory";
    return is_share ? share : arena->budget;
}

/* First fit: a chain has a handful of blocks. */
static struct block *find_room(struct arena *arena, size_t bytes)
{
    for (struct block *b = arena->chain; b; b = b->next)
        if (b->capacity - b->used >= bytes)
            return b;
    return NULL;
}

void *arena_get(struct arena *arena, size_t bytes)
{
    size_t rounded;
    if (__builtin_add_overflow(bytes, TENSOR_ALIGNMENT - 1, &rounded))
        return NULL;
    rounded &= ~(size_t)(TENSOR_ALIGNMENT - 1);
    struct block *block = find_room(arena, rounded);
    if (!block)
        block = arena_add(arena, rounded);
    if (!block)
        return NULL;
    void *p = block->bytes + block->used;
    block->used += rounded;
    return p;
}

bool arena_reserve(struct arena *arena, size_t bytes)
{
    return find_room(arena, bytes) || arena_add(arena, bytes);
}
