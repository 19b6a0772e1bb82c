/* What the store knows of its residents' files. */
#include "server/base/clock.h"
#include "server/tensors/store.h"
#include "server/tensors/store_names.h"

#include <assert.h>
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
    struct key *key = keys_claim(keys, &store->budget, kept->id, kept->fingerprint);
    if (key) {
        memcpy(key->answer, kept->answer, size);
        key->answer_size = size;
        key->etag = memcpy(key->answer + size, kept->etag, tag);
        key->status = kept->status;
        keys_keep(keys, &store->budget, key, kept_ns);
    }
    store_unlock(store);
    return key != NULL;
}
