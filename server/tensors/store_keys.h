/* store_keys: the idempotency keys of a name, in a held turn: of the first place that writes. */
#ifndef SERVER_TENSORS_STORE_KEYS_H
#define SERVER_TENSORS_STORE_KEYS_H

#include "server/tensors/store.h"

enum claim { CLAIM_NEW, CLAIM_KEPT, CLAIM_RUNNING, CLAIM_REUSED, CLAIM_FULL, CLAIM_NO_MEMORY };

/* `*key` is what was found or made. CLAIM_KEPT: its answer stays while the turn is held. */
enum claim store_claim(struct store *store, struct turn *turn, int place, const uint8_t *id,
                       const uint8_t *fingerprint, struct key **key, uint64_t now_ns);
void store_keep(struct store *store, struct turn *turn, int place, struct key *key,
                uint64_t now_ns);
void store_forget(struct store *store, struct turn *turn, int place, struct key *key);

#endif
