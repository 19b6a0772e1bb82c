/* resident: a tensor that the server keeps under a name. It belongs to the name (store.h) from the
 * moment it is installed; before that to whoever makes it. Its elements are written only by the
 * one turn that holds its line alone. */
#ifndef SERVER_TENSORS_RESIDENT_H
#define SERVER_TENSORS_RESIDENT_H

#include "kernels/tensor.h"
#include "server/access/client.h"
#include "server/memory/block.h"
#include "server/tensors/condition.h"
#include "server/tensors/position.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resident {
    struct resident *next; /* among those that are about to be freed */
    struct tensor tensor;  /* its elements lie in `block` */
    size_t bytes;          /* of the elements */
    struct block *block;   /* owned */

    uint64_t generation; /* random, made with the resident */
    uint64_t epoch;      /* 0 until a version could be told twice: see the snapshots */
    uint64_t version;    /* writes so far, the first included */

    uint64_t created_ms, used_ms; /* since 1970 */
    uint64_t ttl_ns;              /* of its lease; 0: none */
    uint64_t expires_ns;          /* monotonic; meaningless without a lease */

    uint64_t changes;       /* of anything that its file holds: elements, lease, positions */
    uint64_t saved_changes; /* those that are in its file */
    uint64_t saved_version; /* the version in its file; 0: it is in none */
    uint64_t unsaved_ns;    /* when the first change came that is not in its file */
    uint64_t failed_ns;     /* when a write of its file last failed */
    bool is_read_only;      /* its file is not ours to write */

    struct positions positions; /* up to where each source of updates was applied */
    struct client *owner;       /* who is charged for it, held; NULL: nobody */
    bool is_counted; /* among the residents; one that replaces another is not, until it does */
    bool is_owner_counted; /* the same among its owner's */
};

/* The tag of the resident as it is, into `text` of ETAG_MAX bytes. */
void resident_etag(const struct resident *resident, char *text);

/* The lease begins anew at `now_ns`. */
void resident_renew(struct resident *resident, uint64_t now_ns);

static inline bool resident_is_saved(const struct resident *resident)
{
    return resident->changes == resident->saved_changes;
}

/* Notes a change of something that its file holds. */
void resident_change(struct resident *resident, uint64_t now_ns);

bool resident_is_expired(const struct resident *resident, uint64_t now_ns);

#endif
