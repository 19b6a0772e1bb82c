#include "server/tensors/store_view.h"

#include "server/tensors/store_names.h"

#include <search.h>
#include <string.h>

static void fill(struct resident_view *view, const struct named *named, uint64_t now_ns)
{
    const struct resident *r = named->resident;
    memcpy(view->name, named->name, sizeof view->name);
    resident_etag(r, view->etag);
    view->tensor = r->tensor;
    view->tensor.data = NULL;
    view->bytes = r->bytes;
    view->version = r->version;
    view->generation = r->generation;
    view->created_ms = r->created_ms;
    view->used_ms = r->used_ms;
    view->ttl_ns = r->ttl_ns;
    view->left_ns = r->ttl_ns && r->expires_ns > now_ns ? r->expires_ns - now_ns : 0;
    view->saved_version = r->saved_version;
    view->is_read_only = r->is_read_only;
    view->is_saved = resident_is_saved(r);
}

/* The resident of that name, if its lease is not over. */
static struct named *find_alive(struct store *store, const char *name, uint64_t now_ns)
{
    struct named *named = store_named_find(store, name);
    if (named)
        store_expire(store, named, now_ns);
    return named && named->resident ? named : NULL;
}

bool store_look(struct store *store, const char *name, uint64_t now_ns, struct resident_view *view)
{
    pthread_mutex_lock(&store->lock);
    const struct named *named = find_alive(store, name, now_ns);
    if (named)
        fill(view, named, now_ns);
    store_unlock(store);
    return named != NULL;
}

int store_positions(struct store *store, const char *name, uint64_t now_ns, struct position *list)
{
    pthread_mutex_lock(&store->lock);
    const struct named *named = find_alive(store, name, now_ns);
    int count = named ? named->resident->positions.count : 0;
    for (int i = 0; i < count; i++)
        list[i] = named->resident->positions.list[i];
    store_unlock(store);
    return count;
}

bool store_knows(struct store *store, const char *name)
{
    if (!store->is_lazy)
        return true;
    pthread_mutex_lock(&store->lock);
    const struct named *named = store_named_find(store, name);
    bool knows = named && named->resident;
    store_unlock(store);
    return knows;
}

enum dtype store_dtype(struct store *store, const char *name, uint64_t now_ns)
{
    pthread_mutex_lock(&store->lock);
    const struct named *named = find_alive(store, name, now_ns);
    enum dtype dtype = named ? named->resident->tensor.dtype : DTYPE_NONE;
    store_unlock(store);
    return dtype;
}

/* ------------------------------------------------------------------------------ walks over all */

struct listing {
    const char *after;
    uint64_t now_ns;
    bool (*see)(const struct resident_view *view, void *context);
    void *context;
    bool is_enough;
};

/* In the order of names. */
static void list_one(const void *node, VISIT visit, void *context)
{
    struct listing *listing = context;
    const struct named *named = *(struct named *const *)node;
    struct resident_view view;
    if ((visit != postorder && visit != leaf) || listing->is_enough || !named->resident ||
        strcmp(named->name, listing->after) <= 0 ||
        (!named->line.first && !named->has_file &&
         resident_is_expired(named->resident, listing->now_ns)))
        return;
    fill(&view, named, listing->now_ns);
    listing->is_enough = !listing->see(&view, listing->context);
}

void store_list(struct store *store, const char *after, uint64_t now_ns,
                bool (*see)(const struct resident_view *view, void *context), void *context)
{
    struct listing listing = {after, now_ns, see, context, false};
    pthread_mutex_lock(&store->lock);
    twalk_r(store->names, list_one, &listing);
    store_unlock(store);
}

void store_advance(struct store *store, const char *token, const struct position *position)
{
    pthread_mutex_lock(&store->lock);
    sources_advance(&store->sources, token, position);
    store_unlock(store);
}

int store_sources(struct store *store, const char *token, struct position *list)
{
    pthread_mutex_lock(&store->lock);
    int count = sources_of(&store->sources, token, list);
    store_unlock(store);
    return count;
}

void store_count(struct store *store, enum store_event event)
{
    pthread_mutex_lock(&store->lock);
    struct store_counts *c = &store->counts;
    uint64_t *const counters[] = {[STORE_CONFLICT] = &c->conflicts,
                                  [STORE_REPLAY] = &c->replays,
                                  [STORE_REFUSED] = &c->refused,
                                  [STORE_EXPIRED] = &c->expired};
    ++*counters[event];
    store_unlock(store);
}

struct store_load store_load(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    struct store_load load = {store->count, store->waiting_count, store->bytes, store->counts};
    store_unlock(store);
    return load;
}
