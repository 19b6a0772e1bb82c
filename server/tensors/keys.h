/* keys: the idempotency keys of a name, and what was answered to the writes that came under them.
 * They belong to the name and the token, not to the resident: they survive its replacement and its
 * end, and go KEY_LIFE_NS after their write.
 *
 * Life of a key: keys_claim (its request waits or runs) -> keys_keep with the answer (it was
 * applied) or keys_release (it was not, and may come again). All under the store's lock but for
 * key->answer, which is written by the claim's own request before keys_keep. */
#ifndef SERVER_TENSORS_KEYS_H
#define SERVER_TENSORS_KEYS_H

#include "server/access/digest.h"
#include "server/base/units.h"
#include "server/memory/budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_LIFE_NS (600 * SEC)

enum { KEY_ID_BYTES = 16, KEY_ANSWER_MAX = 4352 };

struct key {
    uint8_t id[KEY_ID_BYTES]; /* first: the tree compares it. Hash of token and key */
    uint8_t fingerprint[DIGEST_BYTES];
    bool is_kept;
    uint64_t kept_ns;
    struct key *next; /* of those that are kept, oldest first */
    int status;       /* of the answer */
    char *etag;       /* in `answer`, behind its text */
    char *answer;     /* KEY_ANSWER_MAX bytes until it is kept */
    size_t answer_size;
    size_t charged_bytes;
};

struct keys {
    void *tree; /* tsearch */
    struct key *oldest, **newest;
    int count; /* claimed or kept */
    int pins;  /* above 0: no key is forgotten */
};

void keys_init(struct keys *keys);
void keys_free_all(struct keys *keys, struct budget *budget);

/* Forgets keys whose life is over, but for those of a name that is pinned. */
void keys_expire(struct keys *keys, struct budget *budget, uint64_t now_ns);

/* Forgets all that are kept. */
void keys_forget(struct keys *keys, struct budget *budget);

struct key *keys_find(const struct keys *keys, const uint8_t *id);

/* A new key; NULL without memory. The caller looked for it before. */
struct key *keys_claim(struct keys *keys, struct budget *budget, const uint8_t *id,
                       const uint8_t *fingerprint);

/* Keeps a key whose write was applied. The answer to the write stands in the first `size` bytes of
 * key->answer, its tag behind them. */
void keys_keep(struct keys *keys, struct budget *budget, struct key *key, uint64_t now_ns);

void keys_release(struct keys *keys, struct budget *budget, struct key *key);

#endif
