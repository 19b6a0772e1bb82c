#include "server/memory/body.h"

#include "proto/request/request.h"

#include <string.h>

enum {
    GROW_FROM = 8 * 1024, /* first capacity of a body of unknown length */
    HOME_PART = 2         /* a body takes at most a half of the home block's free bytes */
};

static enum error_code over_limit(const struct body *body, const char *what, uint64_t size,
                                  struct error *error)
{
    return error_set(error, ERROR_PAYLOAD_TOO_LARGE, NULL,
                     "the body has %s%llu bytes, the limit %s is %zu", what,
                     (unsigned long long)size, body->limit_name, body->limit);
}

static enum error_code no_room(const struct body *body, size_t size, struct error *error)
{
    const char *setting;
    const struct budget *bound = arena_bound(body->arena, size, &setting);
    if (!budget_fits(bound, blocks_cost(size), body->arena->small))
        return error_set(error, ERROR_PAYLOAD_TOO_LARGE, NULL,
                         "the body needs %zu bytes, the limit %s is %zu", size, setting,
                         bound->limit);
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                     "the body needs %zu bytes; of the %zu that `%s` allows %zu are in use", size,
                     bound->limit, setting, budget_used(bound));
}

/* Finds room for `capacity` bytes and moves the body into it. */
static enum error_code place_body(struct body *body, size_t capacity, struct error *error)
{
    struct arena *arena = body->arena;
    size_t need;
    if (__builtin_add_overflow(body->lead, capacity, &need))
        return over_limit(body, "", capacity, error);
    arena->small = capacity <= BODY_SMALL_MAX;
    struct block *home = arena->chain, *block = NULL;
    char *start;
    if (!body->bytes && need <= (home->capacity - home->used) / HOME_PART) {
        start = arena_get(arena, need);
    } else {
        block = arena_add(arena, need);
        if (!block)
            return no_room(body, need, error);
        block->used = block->capacity;
        start = block->bytes;
        capacity = block->capacity - body->lead;
    }
    if (body->size > 0)
        memcpy(start + body->lead, body->bytes, body->size);
    if (body->block)
        arena_drop(arena, body->block);
    body->block = block;
    body->bytes = start + body->lead;
    body->capacity = capacity;
    return ERROR_NONE;
}

enum error_code body_open(struct body *body, struct arena *arena, int64_t length,
                          int64_t header_length, size_t limit, const char *limit_name,
                          struct error *error)
{
    uint64_t ahead = header_length > 0 ? (uint64_t)header_length % TENSOR_ALIGNMENT : 0;
    *body = (struct body){.arena = arena, .limit = limit, .limit_name = limit_name};
    body->lead = ANSWER_HEAD_ROOM + (TENSOR_ALIGNMENT - ahead) % TENSOR_ALIGNMENT;
    if (length > 0 && (uint64_t)length > limit)
        return over_limit(body, "", (uint64_t)length, error);
    return place_body(body, length >= 0 ? (size_t)length : GROW_FROM, error);
}

enum error_code body_append(struct body *body, const char *bytes, size_t size, struct error *error)
{
    if (size > body->limit - body->size)
        return over_limit(body, "at least ", (uint64_t)body->size + size, error);
    if (size > body->capacity - body->size) {
        size_t wanted = body->size + size;
        if (wanted < 2 * body->capacity)
            wanted = 2 * body->capacity;
        enum error_code code = place_body(body, wanted < body->limit ? wanted : body->limit, error);
        if (code != ERROR_NONE)
            return code;
    }
    memcpy(body->bytes + body->size, bytes, size);
    body->size += size;
    return ERROR_NONE;
}

void body_close(struct body *body)
{
    if (!body->block)
        return;
    size_t used = body->lead + body->size + TENSOR_ALIGNMENT - 1;
    used &= ~(size_t)(TENSOR_ALIGNMENT - 1);
    body->block->used = used < body->block->capacity ? used : body->block->capacity;
}
