/* holds: what a job asks of resident tensors, and what it holds of them: its turn, the claim of its
 * idempotency key, a resident that it makes. All of it is given back by holds_release, whatever
 * becomes of the job. */
#ifndef SERVER_JOBS_HOLDS_H
#define SERVER_JOBS_HOLDS_H

#include "kernels/op.h"
#include "proto/work.h"
#include "server/access/origin.h"
#include "server/access/rights.h"
#include "server/files/files.h"
#include "server/tensors/store.h"

/* What the request said outside its body, and who sends it. Pointers live as long as the job. */
struct holds_setup {
    struct store *store; /* NULL: the job may use no residents */
    struct files *files; /* NULL: there is no folder of tensors */
    struct line_bounds bounds;
    const struct rights *rights; /* NULL: all */
    struct holder holder;
    const char *token; /* whose keys; "" without one */
    struct conditions conditions;
    const char *key;           /* Idempotency-Key; NULL: none */
    const char *const *target; /* method and URL in pieces, for the fingerprint; NULL at the end */
    const struct origin_facts *origin; /* of the page that asks; NULL: it may all */
    struct position position;
    bool in_url; /* tensor_in_url: a reference must stand in the URL */
};

enum { PLACE_NONE = -1 };

struct holds {
    struct holds_setup setup;
    struct directory directory; /* of the store, for decoders */
    bool reads_files;           /* the decoder may look into files for a type */
    bool misses_dtype;          /* it would have had to: the request is to be decoded anew */
    struct turn turn;
    int into;                  /* the place that is written; PLACE_NONE: none */
    int about;                 /* the place whose tag conditions and ETag are about */
    int inputs[OP_INPUTS_MAX]; /* places */
    bool is_keyed;
    uint8_t key_id[KEY_ID_BYTES], fingerprint[DIGEST_BYTES];
    struct key *claim;     /* ours until it is kept or released */
    struct resident *made; /* ours until it is installed */
    char etag[ETAG_MAX];   /* of what was written, else read; "": says nothing */
    bool is_replayed;
};

/* Zeroed holds are of a job that may use no residents. */
void holds_open(struct holds *holds, const struct holds_setup *setup);

/* Whether the client may use a tensor of that name. Errors: NOT_SUPPORTED, FORBIDDEN. */
MUST_CHECK enum error_code holds_permit(const struct holds_setup *setup, const char *name,
                                        bool writes, struct error *error);

/* Before a body is sent, of holds that are not open: what would be refused by now, unless the key
 * or the position may stand for a write that was applied. Both are decided again in the turn.
 * Errors: those of holds_permit, PRECONDITION_FAILED. */
MUST_CHECK enum error_code holds_foresee(struct holds *holds, const struct holds_setup *setup,
                                         const char *name, bool writes, struct error *error);

/* A name that the job uses, before it enters; its place in *place. Errors: those of holds_permit,
 * RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code holds_join(struct holds *holds, const char *name, bool writes,
                                      int *place, struct error *error);

/* The body is known: the key's id and the request's fingerprint are made. Errors: INVALID_HEADER
 * (a key that is none), RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code holds_key(struct holds *holds, const char *op, const char *body,
                                     size_t size, struct error *error);

/* Claims the key and enters the lines. TURN_WAITING: the job is no longer the caller's. TURN_OUT
 * without an error: it would have to wait and may not; to be called again. Errors: CONFLICT,
 * IDEMPOTENCY_KEY_REUSED, RESOURCE_EXHAUSTED, QUEUE_FULL; then nothing is held. */
MUST_CHECK enum error_code holds_enter(struct holds *holds, bool may_wait, size_t bytes,
                                       enum turn_state *state, struct error *error);

/* In the turn, where the store is not ready for it: loads what is in files only. Not for HTTP
 * threads. Errors: those of files_prepare. */
MUST_CHECK enum error_code holds_prepare_files(struct holds *holds, bool (*go_on)(void *context),
                                               void *context, struct error *error);

/* In the turn, first: what was applied before under the key or the position; NULL: this request is
 * new, and its key is claimed. Errors: as holds_enter's of keys. */
MUST_CHECK enum error_code holds_replay(struct holds *holds, const struct key **kept,
                                        bool *is_passed, struct error *error);

/* Whether the resident may be written, or there is none. Errors: FORBIDDEN (it is of a file that is
 * not ours to write). */
MUST_CHECK enum error_code holds_is_ours(const struct holds *holds, int place, struct error *error);

/* In the turn: whether what is to be written may be. Errors: those of holds_is_ours. */
MUST_CHECK enum error_code holds_may_write(const struct holds *holds, struct error *error);

/* In the turn: whether the conditions hold for the resident at `about`. Errors:
 * PRECONDITION_FAILED. */
MUST_CHECK enum error_code holds_check(struct holds *holds, struct error *error);

/* Says that there is no resident of that name on this server, which it names: TENSOR_NOT_FOUND. */
enum error_code holds_missing(const char *name, struct error *error);

/* Errors: TENSOR_NOT_FOUND when the place has no resident; it names this server. */
MUST_CHECK enum error_code holds_find(const struct holds *holds, int place,
                                      const struct resident **resident, struct error *error);

/* Before a write: room for the request's position in what is written, which for a resident that is
 * made is noted there, with those of the one that it replaces. Errors: RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code holds_prepare(struct holds *holds, struct error *error);

/* The resident that was made gets the name at `into`. */
void holds_install(struct holds *holds);

/* The write at `into` is done: its source has come to its position. */
void holds_advance(const struct holds *holds);

/* The write at `into` is done, and this was answered: the key is kept. */
void holds_keep(struct holds *holds, int status, const char *answer, size_t size);

/* Gives everything back. May be called again. */
void holds_release(struct holds *holds);

#endif
