#include "server/tensors/store_share.h"

#include "server/base/clock.h"
#include "server/tensors/store_names.h"

#include <search.h>
#include <string.h>

bool store_place_is_ready(struct store *store, const struct turn *turn, int place)
{
    pthread_mutex_lock(&store->lock);
    bool is_ready =
        turn->places[place].is_prepared || store_named_is_known(store, turn->places[place].named);
    store_unlock(store);
    return is_ready;
}

bool store_holds(struct store *store, const struct turn *turn, int place)
{
    return writer_lease_is_held(&turn->places[place].named->lease, &store->session, clock_ns());
}

void store_hold(struct store *store, struct turn *turn, int place, const struct writer_lease *lease)
{
    pthread_mutex_lock(&store->lock);
    turn->places[place].named->lease = *lease;
    store_unlock(store);
}

void store_unload(struct store *store, struct turn *turn, int place)
{
    struct named *named = turn->places[place].named;
    pthread_mutex_lock(&store->lock);
    if (named->resident && !resident_is_saved(named->resident))
        store->sources.count = 0;
    store_end(store, named);
    keys_forget(&named->keys, &store->budget);
    named->has_file = false;
    named->lease = (struct writer_lease){.session = 0};
    store_unlock(store);
}

struct idle {
    uint64_t before_ns;
    bool is_saved;
    const struct named *found;
};

static void choose_idle(const void *node, VISIT visit, void *context)
{
    struct idle *idle = context;
    const struct named *named = *(struct named *const *)node;
    const struct resident *r = named->resident;
    if ((visit != postorder && visit != leaf) || idle->found || (!r && !named->lease.session) ||
        named->line.first || named->used_ns > idle->before_ns)
        return;
    if ((!r || resident_is_saved(r)) == idle->is_saved && (!r || r->failed_ns <= idle->before_ns))
        idle->found = named;
}

bool store_next_idle(struct store *store, uint64_t before_ns, bool is_saved, char *name)
{
    struct idle idle = {.before_ns = before_ns, .is_saved = is_saved};
    pthread_mutex_lock(&store->lock);
    twalk_r(store->names, choose_idle, &idle);
    if (idle.found)
        strcpy(name, idle.found->name);
    store_unlock(store);
    return idle.found != NULL;
}
