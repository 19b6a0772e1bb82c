#include "server/tensors/keys.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, KEY_ID_BYTES);
}

void keys_init(struct keys *keys)
{
    *keys = (struct keys){.newest = &keys->oldest};
}

static void charge(struct budget *budget, struct key *key, size_t bytes)
{
    if (bytes < key->charged_bytes)
        budget_give_back(budget, key->charged_bytes - bytes);
    key->charged_bytes = bytes;
}

static void drop(struct budget *budget, struct key *key)
{
    charge(budget, key, 0);
    free(key->answer);
    free(key);
}

void keys_free_all(struct keys *keys, struct budget *budget)
{
    keys_expire(keys, budget, UINT64_MAX);
}

static void forget_oldest(struct keys *keys, struct budget *budget)
{
    struct key *key = keys->oldest;
    keys->oldest = key->next;
    if (!keys->oldest)
        keys->newest = &keys->oldest;
    keys_release(keys, budget, key);
}

void keys_expire(struct keys *keys, struct budget *budget, uint64_t now_ns)
{
    const struct key *key;
    if (keys->pins > 0)
        return;
    while ((key = keys->oldest) && now_ns >= key->kept_ns && now_ns - key->kept_ns >= KEY_LIFE_NS)
        forget_oldest(keys, budget);
}

void keys_forget(struct keys *keys, struct budget *budget)
{
    while (keys->oldest)
        forget_oldest(keys, budget);
}

struct key *keys_find(const struct keys *keys, const uint8_t *id)
{
    void *node = tfind(id, &keys->tree, compare);
    return node ? *(struct key **)node : NULL;
}

static struct key *make(struct budget *budget, const uint8_t *id, const uint8_t *fingerprint)
{
    size_t bytes = sizeof(struct key) + KEY_ANSWER_MAX;
    if (!budget_reserve(budget, bytes, true))
        return NULL;
    struct key *key = calloc(1, sizeof *key);
    if (key)
        key->answer = malloc(KEY_ANSWER_MAX);
    if (!key || !key->answer) {
        free(key);
        budget_give_back(budget, bytes);
        return NULL;
    }
    memcpy(key->id, id, KEY_ID_BYTES);
    memcpy(key->fingerprint, fingerprint, DIGEST_BYTES);
    key->charged_bytes = bytes;
    return key;
}

struct key *keys_claim(struct keys *keys, struct budget *budget, const uint8_t *id,
                       const uint8_t *fingerprint)
{
    struct key *key = make(budget, id, fingerprint);
    if (!key)
        return NULL;
    if (!tsearch(key, &keys->tree, compare)) {
        drop(budget, key);
        return NULL;
    }
    keys->count++;
    return key;
}

void keys_keep(struct keys *keys, struct budget *budget, struct key *key, uint64_t now_ns)
{
    size_t tag = (size_t)(key->etag - key->answer), bytes = tag + strlen(key->etag) + 1;
    char *smaller = realloc(key->answer, bytes);
    if (smaller) {
        key->answer = smaller;
        key->etag = smaller + tag;
        charge(budget, key, sizeof *key + bytes);
    }
    key->is_kept = true;
    key->kept_ns = now_ns;
    key->next = NULL;
    *keys->newest = key;
    keys->newest = &key->next;
}

void keys_release(struct keys *keys, struct budget *budget, struct key *key)
{
    tdelete(key, &keys->tree, compare);
    keys->count--;
    drop(budget, key);
}
