#include "server/tensors/store_keys.h"

#include "server/tensors/store_names.h"

#include <string.h>

static enum claim claim(struct store *store, struct keys *keys, const uint8_t *id,
                        const uint8_t *fingerprint, struct key **key)
{
    *key = keys_find(keys, id);
    if (*key && memcmp((*key)->fingerprint, fingerprint, DIGEST_BYTES) != 0)
        return CLAIM_REUSED;
    if (*key)
        return (*key)->is_kept ? CLAIM_KEPT : CLAIM_RUNNING;
    if (keys->count >= store->most_keys)
        return CLAIM_FULL;
    *key = keys_claim(keys, &store->budget, id, fingerprint);
    return *key ? CLAIM_NEW : CLAIM_NO_MEMORY;
}

enum claim store_claim(struct store *store, struct turn *turn, int place, const uint8_t *id,
                       const uint8_t *fingerprint, struct key **key, uint64_t now_ns)
{
    struct keys *keys = &turn->places[place].named->keys;
    pthread_mutex_lock(&store->lock);
    /* Keys are forgotten before one is looked up: one that is found stays while the turn is
     * held. */
    keys_expire(keys, &store->budget, now_ns);
    enum claim result = claim(store, keys, id, fingerprint, key);
    store_unlock(store);
    return result;
}

void store_keep(struct store *store, struct turn *turn, int place, struct key *key, uint64_t now_ns)
{
    pthread_mutex_lock(&store->lock);
    keys_keep(&turn->places[place].named->keys, &store->budget, key, now_ns);
    store_unlock(store);
}

void store_forget(struct store *store, struct turn *turn, int place, struct key *key)
{
    pthread_mutex_lock(&store->lock);
    if (!key->is_kept)
        keys_release(&turn->places[place].named->keys, &store->budget, key);
    store_unlock(store);
}
