/* rights: which resident tensors a token may use, and how much of them it may keep. Shared by the
 * table of tokens and the requests that came with the token. */
#ifndef SERVER_ACCESS_RIGHTS_H
#define SERVER_ACCESS_RIGHTS_H

#include "proto/request/tensor_name.h"
#include "server/access/client.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { RIGHTS_MAX = 16 };

/* "alice-*" or "emb", and behind it ":ro" where it may only be read. */
struct right {
    char pattern[TENSOR_NAME_MAX + 1]; /* without the star */
    bool is_prefix, read_only;
};

struct rights {
    atomic_int references;
    int count;
    struct right list[RIGHTS_MAX];
    bool is_restricted; /* only names in `list` may be used; so of all tokens, once any line of the
                           file has `tensors=` */
    uint64_t most_bytes, most_count; /* tensor_bytes=, tensor_count=; 0: no bound */
};

/* New, with one reference and no right; NULL without memory. */
struct rights *rights_new(void);
struct rights *rights_hold(struct rights *rights); /* NULL is fine */
void rights_leave(struct rights *rights);          /* NULL is fine */

/* Reads what follows `tensors=`; false when it is no pattern or there are RIGHTS_MAX. */
bool rights_add(struct rights *rights, const char *text);

/* Whether a tensor of that name may be read, or with `writes`, written. Rights of NULL allow
 * all. */
bool rights_allow(const struct rights *rights, const char *name, bool writes);

#endif
