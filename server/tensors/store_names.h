/* store_names: what the files of the store share. All of it is called under its lock. */
#ifndef SERVER_TENSORS_STORE_NAMES_H
#define SERVER_TENSORS_STORE_NAMES_H

#include "server/tensors/store.h"

/* Frees what ended under the lock. */
void store_unlock(struct store *store);

/* Found, or made; NULL without memory. */
struct named *store_named_get(struct store *store, const char *name);

/* Found; NULL when there is nothing of that name. */
struct named *store_named_find(struct store *store, const char *name);

/* Gone, if nothing keeps it any more. */
void store_named_put(struct store *store, struct named *named);

/* Takes a resident out of the counts. Its memory goes when the lock does: that may take a while. */
void store_hide(struct store *store, struct resident *resident);

/* Ends the name's resident, if it has one. */
void store_end(struct store *store, struct named *named);

/* Ends the resident if its lease is over and nobody is in line. */
void store_expire(struct store *store, struct named *named, uint64_t now_ns);

/* It was used: its lease begins anew. */
void store_used(struct resident *resident, uint64_t now_ns);

#endif
