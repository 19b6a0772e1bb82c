/* store: the resident tensors by name, their lines, and what bounds them. It knows neither HTTP
 * nor jobs. Times are given, monotonic, so that they can be tested. Keys of writes are
 * store_keys.h's, files store_files.h's, and what everybody may see store_view.h's.
 *
 * A name is there while it has a resident, somebody in its line, a key that is remembered, or a
 * writer's lease. All of it is under one lock, held for lookups only: nothing that depends on a
 * tensor's size happens under it. */
#ifndef SERVER_TENSORS_STORE_H
#define SERVER_TENSORS_STORE_H

#include "kernels/error.h"
#include "proto/request/tensor_name.h"
#include "server/access/client.h"
#include "server/memory/arena.h"
#include "server/memory/budget.h"
#include "server/tensors/keys.h"
#include "server/tensors/line.h"
#include "server/tensors/resident.h"
#include "server/tensors/sources.h"
#include "server/tensors/writer_lease.h"

#include <pthread.h>
#include <stdatomic.h>

/* What was done so far. Conflicts: conditions that did not hold. Refused: no room. */
struct store_counts {
    uint64_t reads, writes, conflicts, replays, expired, refused;
};

struct store {
    pthread_mutex_t lock;
    struct blocks *blocks;
    struct clients *clients;
    struct budget budget;          /* tensor_memory; its limit 0: nothing is kept */
    bool is_lazy;                  /* what has no resident may still have a file: see files.h */
    bool is_shared;                /* what is not held by this server may have a newer one */
    struct writer_session session; /* of this server, where it is one of several */
    int most;                      /* tensors_max */
    int most_keys;                 /* tensor_keys, of a name */
    int count;                     /* residents, with those that are about to be */
    size_t bytes;                  /* of their elements */
    void *names;                   /* tsearch, by name */
    struct turn *waiting;          /* newest first */
    struct resident *dead;         /* out of sight, freed when the lock is */
    int waiting_count;
    struct store_counts counts;
    struct sources sources;
};

/* Which file a name had at a moment: another one has another stamp. */
struct file_stamp {
    uint64_t inode, bytes, changed_ns;
};

struct named {
    char name[TENSOR_NAME_MAX + 1]; /* first: the tree compares it */
    struct line line;
    struct resident *resident; /* owned; NULL: there is none of this name */
    bool has_file;             /* with a file it does not expire by itself: see files.h */
    struct writer_lease lease; /* where the folder is shared */
    struct file_stamp stamp;   /* of the file that the resident was loaded from last */
    uint64_t used_ns;          /* when a turn last read or wrote it (monotonic) */
    struct keys keys;
    int joined; /* turns that have it among their names */
};

/* Who is charged for a resident that is made; a NULL client: nobody. Bounds of 0 are none. */
struct holder {
    struct client *client;
    uint64_t most_bytes, most_count;
};

/* What a store is made from; all that is pointed to outlives it. */
struct store_setup {
    struct blocks *blocks;   /* where tensors come from */
    struct clients *clients; /* who may be charged for them */
    size_t memory;
    int most, most_keys;
    bool is_lazy, is_shared;
};

void store_init(struct store *store, const struct store_setup *setup);

/* Every turn must have left. */
void store_release(struct store *store);

static inline bool store_keeps(const struct store *store)
{
    return store->budget.limit > 0;
}

/* A quarter of what the cgroup allows, or of what the machine has: the default. */
size_t store_memory_of_machine(void);

/* --- lines (line.h) */

/* What one line may hold: a quarter of what the queue may. */
struct line_bounds {
    size_t turns, bytes;
};

/* Adds a name to a turn that is TURN_OUT and returns its place's number: one name twice is one
 * place, and a write wins. -1 without memory. */
int store_join(struct store *store, struct turn *turn, const char *name, bool writes);

/* Enters all lines in one step, and says in *state what became of it: TURN_HELD or, if `may_wait`,
 * TURN_WAITING, and then it may be anybody's by now. After an error, or when it would have to wait
 * and may not, it is TURN_OUT with its names as they were. Errors: QUEUE_FULL. */
MUST_CHECK enum error_code store_enter(struct store *store, struct turn *turn,
                                       const struct line_bounds *bounds, bool may_wait,
                                       uint64_t now_ns, enum turn_state *state,
                                       struct error *error);

/* Whether all that the turn needs to know of its names is in memory. What is not is to be prepared
 * first, by files_prepare, in a turn that holds the name alone. */
bool store_is_ready(struct store *store, const struct turn *turn);

/* Lets a held turn that shares a line of a name that is not ready leave its lines; it is TURN_OUT
 * with its names as they were, to enter again. False: there is no such line. */
bool store_step_back(struct store *store, struct turn *turn, uint64_t now_ns);

/* Leaves all lines, whatever the turn's state, and forgets its names. Turns that come to be held
 * thereby are told so. */
void store_leave(struct store *store, struct turn *turn, uint64_t now_ns);

/* Takes all waiting turns out of their lines for which `is_wanted` says so (quickly: the store
 * stands still), as a list through next_held. Their names are still theirs: the caller lets them
 * leave. */
struct turn *store_remove(struct store *store, bool (*is_wanted)(struct turn *turn, void *context),
                          void *context, uint64_t now_ns);

/* --- in a held turn; the places that are changed are places that write */

static inline struct resident *turn_resident(const struct turn *turn, int place)
{
    return turn->places[place].named->resident;
}

/* A block charged to the budget; NULL with the error. Errors: TENSOR_MEMORY_FULL,
 * RESOURCE_EXHAUSTED. */
struct block *store_block(struct store *store, size_t bytes, struct error *error);
void store_block_put(struct store *store, struct block *block);

/* Says that the budget has no room for `bytes`: TENSOR_MEMORY_FULL. */
MUST_CHECK enum error_code store_full(struct store *store, size_t bytes, struct error *error);

/* Makes a resident that nobody sees yet, of that type and shape; its `block`, one that is charged
 * to the budget, and its tensor's data are the caller's to set before it is installed or discarded.
 * NULL with the error. Errors: TENSOR_MEMORY_FULL, RESOURCE_EXHAUSTED. */
struct resident *store_make(struct store *store, const struct turn *turn, int place,
                            const struct tensor *tensor, const struct holder *holder,
                            struct error *error);
void store_discard(struct store *store, struct resident *resident);

/* The resident gets the name, in place of one that may be there, which ends. */
void store_install(struct store *store, struct turn *turn, int place, struct resident *resident,
                   uint64_t now_ns);

/* One version more: its elements were written. `position` is of the update, reserved before; one
 * without a source: none. */
void store_wrote(struct store *store, struct turn *turn, int place, const struct position *position,
                 uint64_t now_ns);

/* Makes room for what store_move takes over. False without memory; then nothing may move. */
MUST_CHECK bool store_prepare_move(struct store *store, struct turn *turn, int from, int to,
                                   const struct position *position);

/* The resident of `from` takes the name of `to`, and the positions of the one that had it. The file
 * of the resident, if it has one, is that of `to` by now. */
void store_move(struct store *store, struct turn *turn, int from, int to,
                const struct position *position, uint64_t now_ns);

/* The resident ends. Its file, if it had one, is gone by now. */
void store_drop(struct store *store, struct turn *turn, int place);

/* Sets the lease; a `ttl_ns` of 0: none. That is no new version, and `position` is as in
 * store_wrote. */
void store_lease(struct store *store, struct turn *turn, int place, uint64_t ttl_ns,
                 const struct position *position, uint64_t now_ns);

/* --- without a turn */

/* The update at `position`, sent by `token`, is done with: applied by now, or before. */
void store_advance(struct store *store, const char *token, const struct position *position);

/* How far the sources of `token` have come, into `list` of SOURCES_MAX; returns their number. */
int store_sources(struct store *store, const char *token, struct position *list);

/* Ends leases and forgets keys. Called about once a second. */
void store_tick(struct store *store, uint64_t now_ns);

enum store_event { STORE_CONFLICT, STORE_REPLAY, STORE_REFUSED, STORE_EXPIRED };
void store_count(struct store *store, enum store_event event);

/* Numbers for metrics, all at one moment. */
struct store_load {
    int count, waiting;
    size_t bytes;
    struct store_counts counts;
};
struct store_load store_load(struct store *store);

#endif
