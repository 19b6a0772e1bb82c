/* store_names: what the store's .c files share. All of it is called under the store's lock. */
#ifndef SERVER_TENSORS_STORE_NAMES_H
#define SERVER_TENSORS_STORE_NAMES_H

#include "server/tensors/store.h"

/* Releases the lock, then frees the residents that ended under it. */
void store_unlock(struct store *store);

/* The entry of the name, made where there is none; NULL without memory. */
struct named *store_named_get(struct store *store, const char *name);

/* The entry of the name; NULL where there is none. */
struct named *store_named_find(struct store *store, const char *name);

/* Removes the entry unless a resident, a turn, a key or a writer's lease keeps it. */
void store_named_put(struct store *store, struct named *named);

/* Whether the name's resident is all that there is to know; NULL: nothing is known. */
bool store_named_is_known(const struct store *store, const struct named *named);

/* Takes a resident out of the counts. store_unlock frees its memory, which may take a while. */
void store_hide(struct store *store, struct resident *resident);

/* Ends the name's resident, if it has one. */
void store_end(struct store *store, struct named *named);

/* Ends the resident if its lease is over and nobody is in line. */
void store_expire(struct store *store, struct named *named, uint64_t now_ns);

/* Notes a use of the resident: its lease begins anew. */
void store_used(struct resident *resident, uint64_t now_ns);

#endif
