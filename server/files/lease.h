/* lease: who among the servers that share a folder writes a name's file (settings tensor_share,
 * tensor_lease).
 *
 * A server that lives has a file `.tensord-nodes/ID`, its beat, which it writes eight times a term.
 * ID is the machine's name, a random number and the number of the session, and never comes back. A
 * name that was ever written has a file `.NAME.lease` with one line:
 *
 *   EPOCH ID        that session holds the name, while its beat is there
 *   EPOCH - ETAG    nobody does; who did last saved the tensor with that tag, and let go
 *
 * EPOCH rises with each taking. Whoever reads the line to act on it, or writes it, has flock on
 * that file; whoever writes or removes a beat has flock on the beat. So:
 *
 *   - A server whose beat did not change while another beat eight times (at least a term by the
 *     clock of that other, for which the disk did not stand still) is dead: the other removes its
 *     beat, and all names that it held are free at once.
 *   - A server relies on what it holds for half a term from the start of its last beat, by its own
 *     monotonic clock. After that it beats first, and if its beat is gone, it begins a new session.
 *   - The rename, removal or writing of a name's file happens under flock of its lease, after a
 *     look at the line: a server that lost a name never touches its file again, however long it
 *     slept, and wherever. One that stands still inside that lock keeps the others out until it
 * goes on or dies.
 *
 * Who owns what: the session owns its beat; the name's entry in the store (named->lease) knows the
 * epoch under which it is held. The states of a name's lease, and what becomes of it:
 *
 *            client leaves,   drain            process dies        stands still longer than a term
 *            deadline
 *   free     -                -                -                   -
 *   held     stays held       what is not      free a term later:  the same; when it goes on it
 *                             saved is; free,  the file's state,   finds its beat gone, and each
 *                             with its tag     with a new epoch    name as below
 *                                              of the tensor
 *   idle     -                the same         the same            the same
 *   (a term  saved, then free with its tag
 *   unused)
 *   lapsed   a request beats first: the name is still its own (held, nothing is lost), or lost
 *   lost     its tensor and keys are dropped; a request is refused (TENSOR_HELD), or reads the file
 */
#ifndef SERVER_FILES_LEASE_H
#define SERVER_FILES_LEASE_H

#include "kernels/error.h"
#include "proto/request/tensor_name.h"
#include "server/tensors/condition.h"
#include "server/tensors/writer_lease.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { NODE_ID_MAX = 100, NODES_MAX = 64, BEATS_A_TERM = 8 };

/* Another server, as this one sees it. */
struct neighbour {
    char id[NODE_ID_MAX + 1];
    uint64_t beat, changed; /* what it says, and how many beats of ours ago that is news */
    bool is_there;
};

struct leases {
    int folder; /* the caller's */
    int nodes;  /* .tensord-nodes; -1: the folder is not shared */
    uint64_t term_ns;
    char process[NODE_ID_MAX + 1]; /* the machine's name and a random number */
    struct writer_session *own;    /* the caller's; changed here alone */
    pthread_mutex_t lock;          /* of changes of the session, and of what follows */
    uint64_t beat;                 /* of the session */
    uint64_t epoch;                /* the highest so far */

    /* Of the thread that beats. */
    uint64_t ticks, ticked_ns;
    struct neighbour neighbours[NODES_MAX];
    int neighbour_count;
};

/* Begins the first session; what is not open has `nodes` -1. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code leases_open(struct leases *leases, int folder, uint64_t term_ns,
                                       struct writer_session *own, uint64_t now_ns,
                                       struct error *error);

/* The session ends: what it holds is free. */
void leases_close(struct leases *leases);

/* Beats, at a time that was read before the call; a session whose beat is gone is followed by a new
 * one. Errors: TENSOR_FILE_FAILED; then it relies on the beat before. */
MUST_CHECK enum error_code leases_beat(struct leases *leases, uint64_t now_ns, struct error *error);

/* After a beat, on one thread: looks at the other servers, and removes the beats of the dead. */
void leases_watch(struct leases *leases, uint64_t now_ns);

struct taken_lease {
    bool is_lost;        /* *lease says nothing any more: what is in memory is nobody's */
    char etag[ETAG_MAX]; /* of the tensor as the one before left it; empty: not known */
};

/* Takes the name, or makes sure of it where *lease says that it was held. Errors: TENSOR_HELD
 * (another holds it, or is just at it), TENSOR_FILE_FAILED; *lease is as it was. */
MUST_CHECK enum error_code lease_take(struct leases *leases, const char *name,
                                      struct writer_lease *lease, struct taken_lease *taken,
                                      uint64_t now_ns, struct error *error);

/* Gives it back, if it is held: the tensor is saved with that tag; NULL: there is none. False:
 * another server is at it, to be tried again. */
bool lease_give_back(struct leases *leases, const char *name, const struct writer_lease *lease,
                     const char *etag);

/* Until lease_unlock nobody else takes the name, which is held. -1 with the error. Errors:
 * TENSOR_HELD (it is lost), TENSOR_FILE_FAILED. */
int lease_lock(struct leases *leases, const char *name, const struct writer_lease *lease,
               struct error *error);
void lease_unlock(int locked);

#endif
