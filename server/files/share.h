/* share: a folder whose names are written by several servers, each name by one at a time
 * (setting tensor_share). What becomes of a name, in which state, is lease.h's.
 *
 * A thread beats, and lets go of names that nobody used for a term. What is not held is looked up
 * in the folder each time that it is read: a copy of a file that is there no more is loaded anew.
 */
#ifndef SERVER_FILES_SHARE_H
#define SERVER_FILES_SHARE_H

#include "server/files/files.h"

/* Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code share_open(struct files *files, uint64_t term_ns, struct error *error);

/* Lets go of all that is saved; what is not is another's to take. May be called again. */
void share_close(struct files *files);

/* KNOWN: the resident stands. ASKED: it is to be loaded, and is then this server's to write. COPY:
 * the file is another's to write. */
enum settled { SETTLED_KNOWN, SETTLED_ASKED, SETTLED_COPY };

/* In a turn that is alone in the place's line: takes the lease where the turn needs it, and forgets
 * what was lost. Errors: TENSOR_HELD, TENSOR_FILE_FAILED. */
MUST_CHECK enum error_code share_settle(struct files *files, struct turn *turn, int place,
                                        struct taken_lease *taken, enum settled *settled,
                                        struct error *error);

/* After a write, before it is answered: whether the names that were written are still held. Errors:
 * TENSOR_HELD: what was written is dropped; TENSOR_FILE_FAILED. */
MUST_CHECK enum error_code share_confirm(struct files *files, struct turn *turn,
                                         struct error *error);

/* Under `commit`, around a change of a name's file: keeps others from taking the name. *locked is
 * for lease_unlock. A folder that is not shared has nothing to lock. Errors: TENSOR_HELD,
 * TENSOR_FILE_FAILED. */
MUST_CHECK enum error_code share_lock(struct files *files, const char *name,
                                      const struct writer_lease *lease, int *locked,
                                      struct error *error);

#endif
