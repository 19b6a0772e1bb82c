#include "server/base/clock.h"
#include "server/tensors/store_names.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>

/* Random, and no other resident's: 64 bits do not meet by chance. */
static uint64_t new_generation(void)
{
    uint64_t generation;
    if (getrandom(&generation, sizeof generation, 0) != sizeof generation)
        generation = clock_wall_ns();
    return generation;
}

static enum error_code full(struct store *store, struct error *error, const char *what,
                            uint64_t most)
{
    store->counts.refused++;
    return error_set(error, ERROR_TENSOR_MEMORY_FULL, NULL,
                     "no room for this tensor: %s is %llu; nothing is dropped to make room", what,
                     (unsigned long long)most);
}

/* A resident that takes another's place counts once. */
static enum error_code count_in(struct store *store, struct resident *resident,
                                const struct resident *old, const struct holder *holder,
                                struct error *error)
{
    struct client *owner = holder->client;
    bool is_new = !old, is_owners_new = owner && (!old || old->owner != owner);
    if (is_new && store->count >= store->most)
        return full(store, error, "the limit of their number, tensors_max,", (uint64_t)store->most);
    if (is_owners_new && holder->most_count && owner->tensor_count >= holder->most_count)
        return full(store, error, "the token's tensor_count", holder->most_count);
    if (owner && holder->most_bytes &&
        (owner->tensor_bytes > holder->most_bytes ||
         resident->bytes > holder->most_bytes - owner->tensor_bytes))
        return full(store, error, "the token's tensor_bytes", holder->most_bytes);
    store->count += resident->is_counted = is_new;
    if (!owner)
        return ERROR_NONE;
    clients_hold(store->clients, owner);
    resident->owner = owner;
    owner->tensor_bytes += resident->bytes;
    owner->tensor_count += resident->is_owner_counted = is_owners_new;
    return ERROR_NONE;
}

enum error_code store_full(struct store *store, size_t bytes, struct error *error)
{
    pthread_mutex_lock(&store->lock);
    store->counts.refused++;
    pthread_mutex_unlock(&store->lock);
    return error_set(error, ERROR_TENSOR_MEMORY_FULL, NULL,
                     "the tensor needs %zu bytes; of the %zu that tensor_memory allows %zu are in "
                     "use, and nothing is dropped to make room",
                     bytes, store->budget.limit, budget_used(&store->budget));
}

struct block *store_block(struct store *store, size_t bytes, struct error *error)
{
    size_t cost = blocks_cost(bytes);
    bool has_room = cost != SIZE_MAX && budget_reserve(&store->budget, cost, true);
    struct block *block = has_room ? blocks_get(store->blocks, bytes) : NULL;
    if (block)
        return block;
    if (has_room)
        budget_give_back(&store->budget, cost);
    error->code = has_room ? error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                                       "there is no memory for a tensor of %zu bytes", bytes)
                           : store_full(store, bytes, error);
    return NULL;
}

void store_block_put(struct store *store, struct block *block)
{
    budget_give_back(&store->budget, block_cost(block));
    blocks_put(store->blocks, block);
}

struct resident *store_make(struct store *store, const struct turn *turn, int place,
                            const struct tensor *tensor, const struct holder *holder,
                            struct error *error)
{
    struct resident *resident = calloc(1, sizeof *resident);
    if (!resident) {
        error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "there is no memory for a tensor");
        return NULL;
    }
    bool fits = tensor_bytes(tensor, &resident->bytes);
    assert(fits);
    resident->tensor = *tensor;
    resident->generation = new_generation();
    resident->version = 1;
    pthread_mutex_lock(&store->lock);
    const struct resident *old = turn_resident(turn, place);
    enum error_code code = count_in(store, resident, old, holder, error);
    pthread_mutex_unlock(&store->lock);
    if (code == ERROR_NONE)
        return resident;
    free(resident);
    return NULL;
}

void store_discard(struct store *store, struct resident *resident)
{
    pthread_mutex_lock(&store->lock);
    store_hide(store, resident);
    store_unlock(store);
}

/* A resident that takes another's name takes over its places in the counts. */
static void inherit(struct resident *resident, struct resident *old)
{
    resident->is_counted |= old->is_counted;
    old->is_counted = false;
    if (resident->owner && resident->owner == old->owner) {
        resident->is_owner_counted |= old->is_owner_counted;
        old->is_owner_counted = false;
    }
}

void store_install(struct store *store, struct turn *turn, int place, struct resident *resident,
                   uint64_t now_ns)
{
    struct named *named = turn->places[place].named;
    pthread_mutex_lock(&store->lock);
    if (named->resident)
        inherit(resident, named->resident);
    store_end(store, named);
    resident->created_ms = clock_wall_ms();
    store_used(resident, now_ns);
    resident_change(resident, now_ns);
    named->resident = resident;
    store->bytes += resident->bytes;
    store->counts.writes++;
    store_unlock(store);
}

void store_wrote(struct store *store, struct turn *turn, int place, const struct position *position,
                 uint64_t now_ns)
{
    struct resident *resident = turn_resident(turn, place);
    pthread_mutex_lock(&store->lock);
    resident->version++;
    resident_change(resident, now_ns);
    if (*position->source)
        positions_set(&resident->positions, position);
    store_used(resident, now_ns);
    store->counts.writes++;
    store_unlock(store);
}

bool store_prepare_move(struct store *store, struct turn *turn, int from, int to,
                        const struct position *position)
{
    const struct resident *old = turn_resident(turn, to);
    pthread_mutex_lock(&store->lock);
    bool has_room =
        positions_reserve_all(&turn_resident(turn, from)->positions,
                              old ? &old->positions : &(struct positions){.count = 0}, position);
    store_unlock(store);
    return has_room;
}

void store_move(struct store *store, struct turn *turn, int from, int to,
                const struct position *position, uint64_t now_ns)
{
    struct named *source = turn->places[from].named, *target = turn->places[to].named;
    struct positions *positions = &source->resident->positions;
    pthread_mutex_lock(&store->lock);
    bool has_room = !target->resident || positions_merge(positions, &target->resident->positions);
    assert(has_room);
    if (*position->source)
        positions_set(positions, position);
    store_end(store, target);
    target->resident = source->resident;
    target->has_file |= source->has_file;
    source->resident = NULL;
    source->has_file = false;
    store_used(target->resident, now_ns);
    resident_change(target->resident, now_ns);
    store->counts.writes++;
    store_unlock(store);
}

void store_drop(struct store *store, struct turn *turn, int place)
{
    pthread_mutex_lock(&store->lock);
    store_end(store, turn->places[place].named);
    turn->places[place].named->has_file = false;
    store->counts.writes++;
    store_unlock(store);
}

void store_lease(struct store *store, struct turn *turn, int place, uint64_t ttl_ns,
                 const struct position *position, uint64_t now_ns)
{
    struct resident *resident = turn_resident(turn, place);
    pthread_mutex_lock(&store->lock);
    resident->ttl_ns = ttl_ns;
    if (*position->source)
        positions_set(&resident->positions, position);
    resident_change(resident, now_ns);
    resident_renew(resident, now_ns);
    store_unlock(store);
}
