#include "server/tensors/store_files.h"

#include "server/base/clock.h"
#include "server/base/units.h"
#include "server/tensors/store_names.h"

#include <assert.h>
#include <search.h>
#include <string.h>

void store_adopt(struct store *store, struct turn *turn, int place, struct resident *resident,
                 bool has_file, uint64_t now_ns)
{
    struct named *named = turn->places[place].named;
    pthread_mutex_lock(&store->lock);
    assert(!named->resident);
    resident->used_ms = clock_wall_ms();
    resident->changes = resident->saved_changes = 1;
    resident->saved_version = resident->version;
    resident_renew(resident, now_ns);
    named->resident = resident;
    named->has_file = has_file;
    named->used_ns = now_ns;
    store->bytes += resident->bytes;
    store_unlock(store);
}

bool store_adopt_key(struct store *store, struct turn *turn, int place, const struct kept_key *kept,
                     uint64_t kept_ns)
{
    struct keys *keys = &turn->places[place].named->keys;
    size_t size = strlen(kept->answer), tag = strlen(kept->etag) + 1;
    assert(size + tag <= KEY_ANSWER_MAX);
    pthread_mutex_lock(&store->lock);
    struct key *key = keys_find(keys, kept->id);
    bool is_known = key && key->is_kept;
    if (!key)
        key = keys_claim(keys, &store->budget, kept->id, kept->fingerprint);
    if (key && !is_known) {
        memcpy(key->fingerprint, kept->fingerprint, DIGEST_BYTES);
        memcpy(key->answer, kept->answer, size);
        key->answer_size = size;
        key->etag = memcpy(key->answer + size, kept->etag, tag);
        key->status = kept->status;
        keys_keep(keys, &store->budget, key, kept_ns);
    }
    store_unlock(store);
    return key != NULL;
}

void store_get_sources(struct store *store, struct sources *sources)
{
    pthread_mutex_lock(&store->lock);
    *sources = store->sources;
    store_unlock(store);
}

void store_set_sources(struct store *store, const struct sources *sources)
{
    pthread_mutex_lock(&store->lock);
    store->sources = *sources;
    store_unlock(store);
}

/* ------------------------------------------------------------------------- what a snapshot asks */

static struct resident *find(struct store *store, const char *name, uint64_t generation)
{
    struct named *named = store_named_find(store, name);
    bool is_same = named && named->resident && named->resident->generation == generation;
    return is_same ? named->resident : NULL;
}

bool store_stands(struct store *store, const char *name, const struct saved_state *state)
{
    pthread_mutex_lock(&store->lock);
    const struct resident *resident = find(store, name, state->generation);
    bool stands = resident && resident->saved_changes <= state->changes;
    store_unlock(store);
    return stands;
}

void store_saved(struct store *store, const char *name, const struct saved_state *state)
{
    pthread_mutex_lock(&store->lock);
    struct resident *resident = find(store, name, state->generation);
    if (resident) {
        resident->saved_changes = state->changes;
        resident->saved_version = state->version;
        if (state->changes > 0)
            resident->unsaved_ns = state->taken_ns; /* if anything changed since */
        store_named_find(store, name)->has_file = true;
    }
    store_unlock(store);
}

void store_failed(struct store *store, const char *name, uint64_t now_ns)
{
    pthread_mutex_lock(&store->lock);
    struct named *named = store_named_find(store, name);
    if (named && named->resident)
        named->resident->failed_ns = now_ns;
    store_unlock(store);
}

const struct key *store_pin_keys(struct store *store, struct turn *turn, int place)
{
    struct keys *keys = &turn->places[place].named->keys;
    pthread_mutex_lock(&store->lock);
    keys->pins++;
    const struct key *oldest = keys->oldest;
    store_unlock(store);
    return oldest;
}

void store_unpin_keys(struct store *store, struct turn *turn, int place)
{
    pthread_mutex_lock(&store->lock);
    turn->places[place].named->keys.pins--;
    store_unlock(store);
}

/* ------------------------------------------------------------------------------ walks over all */

struct choice {
    uint64_t before_ns, since_ns;
    const struct named *found;
};

static const struct named *visited(const void *node, VISIT visit)
{
    const struct named *named = *(struct named *const *)node;
    return (visit == postorder || visit == leaf) && named->resident ? named : NULL;
}

static void choose_unsaved(const void *node, VISIT visit, void *context)
{
    struct choice *choice = context;
    const struct named *named = visited(node, visit);
    const struct resident *r = named ? named->resident : NULL;
    if (!r || r->is_read_only || resident_is_saved(r) || r->unsaved_ns >= choice->before_ns ||
        r->failed_ns >= choice->before_ns)
        return;
    if (choice->found && choice->since_ns <= r->unsaved_ns)
        return;
    choice->found = named;
    choice->since_ns = r->unsaved_ns;
}

bool store_next_unsaved(struct store *store, uint64_t before_ns, char *name, uint64_t *since_ns)
{
    struct choice choice = {.before_ns = before_ns};
    pthread_mutex_lock(&store->lock);
    twalk_r(store->names, choose_unsaved, &choice);
    if (choice.found)
        strcpy(name, choice.found->name);
    store_unlock(store);
    *since_ns = choice.since_ns;
    return choice.found != NULL;
}

static void choose_expired(const void *node, VISIT visit, void *context)
{
    struct choice *choice = context;
    const struct named *named = visited(node, visit);
    if (named && named->has_file && !named->line.first &&
        resident_is_expired(named->resident, choice->before_ns) &&
        named->resident->failed_ns + SEC <= choice->before_ns)
        choice->found = named;
}

bool store_next_expired(struct store *store, uint64_t now_ns, char *name)
{
    struct choice choice = {.before_ns = now_ns};
    pthread_mutex_lock(&store->lock);
    twalk_r(store->names, choose_expired, &choice);
    if (choice.found)
        strcpy(name, choice.found->name);
    store_unlock(store);
    return choice.found != NULL;
}
