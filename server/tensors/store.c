#include "server/tensors/store.h"

#include "server/base/clock.h"
#include "server/tensors/store_names.h"

#include <assert.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

void store_init(struct store *store, const struct store_setup *setup)
{
    *store = (struct store){.blocks = setup->blocks,
                            .clients = setup->clients,
                            .is_lazy = setup->is_lazy,
                            .most = setup->most,
                            .most_keys = setup->most_keys};
    budget_init(&store->budget, setup->memory);
    store->budget.kept = 0;
    pthread_mutex_init(&store->lock, NULL);
}

size_t store_memory_of_machine(void)
{
    return budget_of_machine() / 2;
}

/* -------------------------------------------------------------------------------------- names */

struct named *store_named_find(struct store *store, const char *name)
{
    void *node = tfind(name, &store->names, compare);
    return node ? *(struct named **)node : NULL;
}

struct named *store_named_get(struct store *store, const char *name)
{
    struct named *named = store_named_find(store, name);
    if (named)
        return named;
    named = calloc(1, sizeof *named);
    if (!named)
        return NULL;
    strcpy(named->name, name);
    keys_init(&named->keys);
    if (tsearch(named, &store->names, compare))
        return named;
    free(named);
    return NULL;
}

void store_named_put(struct store *store, struct named *named)
{
    if (named->resident || named->joined > 0 || named->keys.count > 0)
        return;
    tdelete(named, &store->names, compare);
    free(named);
}

/* ---------------------------------------------------------------------------------- residents */

void store_hide(struct store *store, struct resident *resident)
{
    store->count -= resident->is_counted;
    if (resident->owner) {
        resident->owner->tensor_bytes -= resident->bytes;
        resident->owner->tensor_count -= resident->is_owner_counted;
    }
    resident->next = store->dead;
    store->dead = resident;
}

static void bury(struct store *store, struct resident *resident)
{
    if (resident->block)
        store_block_put(store, resident->block);
    clients_leave(store->clients, resident->owner);
    positions_release(&resident->positions);
    free(resident);
}

void store_unlock(struct store *store)
{
    struct resident *dead = store->dead;
    store->dead = NULL;
    pthread_mutex_unlock(&store->lock);
    for (struct resident *next; dead; dead = next) {
        next = dead->next;
        bury(store, dead);
    }
}

void store_end(struct store *store, struct named *named)
{
    if (!named->resident)
        return;
    store->bytes -= named->resident->bytes;
    store_hide(store, named->resident);
    named->resident = NULL;
}

void store_expire(struct store *store, struct named *named, uint64_t now_ns)
{
    if (!named->resident || named->has_file || named->line.first ||
        !resident_is_expired(named->resident, now_ns))
        return;
    store_end(store, named);
    store->counts.expired++;
}

void store_used(struct resident *resident, uint64_t now_ns)
{
    resident->used_ms = clock_wall_ms();
    resident_renew(resident, now_ns);
}

/* ------------------------------------------------------------------------- as time passes */

/* Names that nothing keeps, collected: the tree must not change while it is walked. */
struct sweep {
    struct store *store;
    uint64_t now_ns;
    struct named *idle[64];
    int count;
};

static void sweep_one(const void *node, VISIT visit, void *context)
{
    struct sweep *sweep = context;
    struct named *named = *(struct named *const *)node;
    if (visit != postorder && visit != leaf)
        return;
    store_expire(sweep->store, named, sweep->now_ns);
    keys_expire(&named->keys, &sweep->store->budget, sweep->now_ns);
    if (!named->resident && named->joined == 0 && named->keys.count == 0 &&
        sweep->count < (int)(sizeof sweep->idle / sizeof *sweep->idle))
        sweep->idle[sweep->count++] = named;
}

void store_tick(struct store *store, uint64_t now_ns)
{
    struct sweep sweep = {.store = store, .now_ns = now_ns};
    do {
        sweep.count = 0;
        pthread_mutex_lock(&store->lock);
        twalk_r(store->names, sweep_one, &sweep);
        for (int i = 0; i < sweep.count; i++)
            store_named_put(store, sweep.idle[i]);
        store_unlock(store);
    } while (sweep.count > 0);
}

void store_release(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    while (store->names) {
        struct named *named = *(struct named **)store->names;
        assert(named->joined == 0);
        store_end(store, named);
        keys_free_all(&named->keys, &store->budget);
        store_named_put(store, named);
    }
    store_unlock(store);
    assert(budget_used(&store->budget) == 0);
    pthread_mutex_destroy(&store->lock);
}
