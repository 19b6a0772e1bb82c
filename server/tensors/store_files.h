/* store_files: what the files of tensors (server/files/files.h) ask of the store and tell it. */
#ifndef SERVER_TENSORS_STORE_FILES_H
#define SERVER_TENSORS_STORE_FILES_H

#include "server/tensors/store.h"

/* The resident, which a file holds, gets the name, which has none yet. `has_file`: the file is the
 * name's own. */
void store_adopt(struct store *store, struct turn *turn, int place, struct resident *resident,
                 bool has_file, uint64_t now_ns);

/* A key as a file keeps it. */
struct kept_key {
    uint8_t id[KEY_ID_BYTES], fingerprint[DIGEST_BYTES];
    uint64_t kept_ms; /* since 1970 */
    int status;
    char etag[ETAG_MAX];
    const char *answer;
};

/* The name remembers the key as of `kept_ns`, later than those before; false without room. A key
 * that it remembers already stays as it is; one that a request has claimed becomes a kept one,
 * which that request finds in its turn. */
MUST_CHECK bool store_adopt_key(struct store *store, struct turn *turn, int place,
                                const struct kept_key *key, uint64_t kept_ns);

/* Which state of a resident a snapshot has. */
struct saved_state {
    uint64_t generation, epoch, version, changes;
    uint64_t taken_ns; /* later changes are not in it */
};

/* Whether the name still has the resident of that state, and no file of a later one. */
bool store_stands(struct store *store, const char *name, const struct saved_state *state);

/* The name has a file, which holds that state; without changes: nobody knows what it holds. */
void store_saved(struct store *store, const char *name, const struct saved_state *state);

/* A write of its file failed: it is not tried again at once. */
void store_failed(struct store *store, const char *name, uint64_t now_ns);

/* The keys of the place's name, oldest first. None is forgotten until they are unpinned. */
const struct key *store_pin_keys(struct store *store, struct turn *turn, int place);
void store_unpin_keys(struct store *store, struct turn *turn, int place);

/* The resident that has been out of step with its file for longest: its name, and since when.
 * Left out are read-only ones, and those whose first unsaved change or last failed write is not
 * before `before_ns`. False: there is none. */
bool store_next_unsaved(struct store *store, uint64_t before_ns, char *name, uint64_t *since_ns);

/* The positions of all sources (sources.h). */
void store_get_sources(struct store *store, struct sources *sources);
void store_set_sources(struct store *store, const struct sources *sources);

/* A name with a file whose lease is over; false: there is none. */
bool store_next_expired(struct store *store, uint64_t now_ns, char *name);

#endif
