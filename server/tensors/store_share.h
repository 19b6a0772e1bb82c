/* store_share: what servers that share a folder do to a name that one of them writes
 * (server/files/lease.h). */
#ifndef SERVER_TENSORS_STORE_SHARE_H
#define SERVER_TENSORS_STORE_SHARE_H

#include "server/tensors/store.h"

/* --- in a held turn that is alone in the place's line */

/* Whether all that the turn needs to know of the name is in memory. */
bool store_place_is_ready(struct store *store, const struct turn *turn, int place);

/* Whether this server holds the name now. */
bool store_holds(struct store *store, const struct turn *turn, int place);

void store_hold(struct store *store, struct turn *turn, int place,
                const struct writer_lease *lease);

/* Forgets the name's resident, its keys and the lease; its file is not touched. What was not in the
 * file is lost, and then nobody is told that its source has come so far. */
void store_unload(struct store *store, struct turn *turn, int place);

/* --- without a turn */

/* A name that no turn has used since then, with nobody in line, and whether all of it is in its
 * file. False: there is none. */
bool store_next_idle(struct store *store, uint64_t before_ns, bool is_saved, char *name);

#endif
