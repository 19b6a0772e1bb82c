/* store_view: what anyone may see of residents at any time, without a turn. */
#ifndef SERVER_TENSORS_STORE_VIEW_H
#define SERVER_TENSORS_STORE_VIEW_H

#include "server/tensors/store.h"

/* What one may know of a resident. */
struct resident_view {
    char name[TENSOR_NAME_MAX + 1], etag[ETAG_MAX];
    struct tensor tensor; /* without data */
    size_t bytes;
    uint64_t version, generation, created_ms, used_ms;
    uint64_t ttl_ns, left_ns; /* of the lease; 0, 0: none */
    uint64_t saved_version;   /* that its file has; 0: it is in none */
    bool is_read_only;
    bool is_saved; /* its file is up to date */
};

/* False: there is none of that name. */
bool store_look(struct store *store, const char *name, uint64_t now_ns, struct resident_view *view);

/* Up to where each source of updates was applied to the name's resident, into `list` of
 * POSITIONS_MAX; returns how many sources there are. */
int store_positions(struct store *store, const char *name, uint64_t now_ns, struct position *list);

/* Whether what the store says of the name is all that there is; else a file may have it. */
bool store_knows(struct store *store, const char *name);

/* The type of the elements of the name's resident; DTYPE_NONE: there is none. */
enum dtype store_dtype(struct store *store, const char *name, uint64_t now_ns);

/* Shows residents whose names come after `after` in their order, until `see` says enough. */
void store_list(struct store *store, const char *after, uint64_t now_ns,
                bool (*see)(const struct resident_view *view, void *context), void *context);

#endif
