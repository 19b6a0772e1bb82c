#include "server/base/clock.h"
#include "server/base/exhausted.h"
#include "server/jobs/holds_parts.h"
#include "server/tensors/store_keys.h"

#include <assert.h>
#include <string.h>

enum { KEY_TEXT_MAX = 255 };

/* Takes the quotes away: a key is the same with and without them. */
static bool trim_key(const char **key, size_t *size)
{
    const char *text = *key;
    *size = strlen(text);
    if (*size >= 2 && text[0] == '"' && text[*size - 1] == '"') {
        text++;
        *size -= 2;
    }
    for (size_t i = 0; i < *size; i++)
        if (text[i] < ' ' || text[i] > '~' || text[i] == '"')
            return false;
    *key = text;
    return *size >= 1 && *size <= KEY_TEXT_MAX;
}

/* Hashes the texts, each with its NUL, and then the body. */
static bool hash(uint8_t *digest, const char *first, const char *const *texts, const void *body,
                 size_t size)
{
    struct digest d;
    if (!digest_begin(&d))
        return false;
    digest_add(&d, first, strlen(first) + 1);
    for (; *texts; texts++)
        digest_add(&d, *texts, strlen(*texts) + 1);
    digest_add(&d, body, size);
    digest_end(&d, digest);
    return true;
}

enum error_code holds_key(struct holds *holds, const char *op, const char *body, size_t size,
                          struct error *error)
{
    const struct holds_setup *setup = &holds->setup;
    const char *key = setup->key;
    uint8_t id[DIGEST_BYTES];
    size_t key_size;
    if (!key)
        return ERROR_NONE;
    if (!trim_key(&key, &key_size))
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "Idempotency-Key is '%.40s', allowed are 1 to %d visible characters, in "
                         "quotes or not",
                         setup->key, KEY_TEXT_MAX);
    if (!hash(id, setup->token, (const char *[]){NULL}, key, key_size) ||
        !hash(holds->fingerprint, op, setup->target, body, size))
        return error_no_memory(error);
    memcpy(holds->key_id, id, KEY_ID_BYTES);
    holds->is_keyed = true;
    return ERROR_NONE;
}

static enum error_code explain_claim(const struct holds *holds, enum claim claim,
                                     struct error *error)
{
    const char *name = holds->turn.places[holds->into].named->name;
    switch (claim) {
    case CLAIM_NEW:
    case CLAIM_KEPT:
        break;
    case CLAIM_RUNNING:
        return error_set(error, ERROR_CONFLICT, NULL,
                         "a request with this Idempotency-Key is still being worked on; ask again");
    case CLAIM_REUSED:
        return error_set(error, ERROR_IDEMPOTENCY_KEY_REUSED, NULL,
                         "this Idempotency-Key came with another request to the tensor '%s'", name);
    case CLAIM_FULL:
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                         "the tensor '%s' remembers %d keys (setting tensor_keys), none older than "
                         "10 minutes; nothing was applied, try again later",
                         name, holds->setup.store->most_keys);
    case CLAIM_NO_MEMORY:
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                         "there is no room for another Idempotency-Key (setting tensor_memory); "
                         "nothing was applied");
    }
    return ERROR_NONE;
}

enum error_code holds_claim(struct holds *holds, const struct key **kept, struct error *error)
{
    struct key *key = NULL;
    if (holds->claim && holds->claim->is_kept) /* meanwhile, by a file that was loaded */
        holds->claim = NULL;
    if (!holds->is_keyed || holds->into == PLACE_NONE || holds->claim)
        return ERROR_NONE;
    enum claim result = store_claim(holds->setup.store, &holds->turn, holds->into, holds->key_id,
                                    holds->fingerprint, &key, clock_ns());
    if (result == CLAIM_NEW)
        holds->claim = key;
    if (result == CLAIM_KEPT)
        *kept = key;
    return explain_claim(holds, result, error);
}

void holds_keep(struct holds *holds, int status, const char *answer, size_t size)
{
    struct key *key = holds->claim;
    size_t tag = strlen(holds->etag) + 1;
    if (!key)
        return;
    assert(size + tag <= KEY_ANSWER_MAX);
    memcpy(key->answer, answer, size);
    key->answer_size = size;
    key->etag = key->answer + size;
    memcpy(key->etag, holds->etag, tag);
    key->status = status;
    holds->claim = NULL;
    store_keep(holds->setup.store, &holds->turn, holds->into, key, clock_ns());
}
