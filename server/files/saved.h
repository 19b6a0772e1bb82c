/* saved: what a file of ours says of its resident besides its elements, as members of __metadata__:
 *
 *   tensord.generation   16 hex digits
 *   tensord.epoch        hex
 *   tensord.version      a number
 *   tensord.created      ms since 1970
 *   tensord.ttl          of its lease, in ms; 0: none
 *   tensord.from.SOURCE  the last position of that source of updates, "17-0"
 *   tensord.key.ID       an idempotency key by its hash, oldest first: "FINGERPRINT KEPT STATUS
 *                        ETAG ANSWER": hex, ms since 1970, a number, the tag, all of the rest */
#ifndef SERVER_FILES_SAVED_H
#define SERVER_FILES_SAVED_H

#include "proto/request/safetensors_file.h"
#include "proto/text.h"
#include "server/tensors/store.h"

struct saved {
    uint64_t generation, epoch, version, created_ms, ttl_ns;
};

/* Whether the file says anything of the kind, and what. Errors: INVALID_FIELD (it does, but not as
 * above). */
MUST_CHECK enum error_code saved_read(struct saved *saved, bool *is_ours,
                                      const struct safetensors_file *file, struct error *error);

/* The positions that it says. Errors: INVALID_FIELD, RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code saved_positions(struct positions *positions,
                                           const struct safetensors_file *file,
                                           struct error *error);

/* Lets the name remember the keys whose life is not over. Errors: INVALID_FIELD,
 * TENSOR_MEMORY_FULL. */
MUST_CHECK enum error_code saved_keys(struct store *store, struct turn *turn, int place,
                                      const struct safetensors_file *file, struct error *error);

/* Appends the members for a resident and the keys of a name, whose turn is held: "NAME":"VALUE",...
 * The text is cut when there is no room. */
void saved_print(struct text *text, struct store *store, struct turn *turn, int resident, int keys);

#endif
