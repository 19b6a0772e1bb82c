/* token: bearer tokens from a file, which say who may send requests.
 *
 *   # name:token, or name:sha256:<64 hex> (printf %s TOKEN | sha256sum), then limits
 *   alice:Zm9vYmFyYmF6cXV1eA
 *   bob:sha256:<64 hex> rate=100/s bytes=10M/s
 *
 * A name has 1 to 64 letters, digits, '.', '_' and '-'; a token visible ASCII. `rate` bounds
 * requests, `bytes` the bodies both ways. Only digests are kept, and all of them are compared in
 * constant time: neither memory nor time tells a token. */
#ifndef SERVER_ACCESS_TOKEN_H
#define SERVER_ACCESS_TOKEN_H

#include "kernels/error.h"
#include "server/access/client.h"
#include "server/access/digest.h"
#include "server/access/rights.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { TOKENS_MAX = 1024 };

struct token {
    uint8_t digest[DIGEST_BYTES];
    struct limit requests, bytes;
    struct client *client;
    struct rights *rights; /* to resident tensors */
};

struct tokens {
    struct clients *clients;
    pthread_rwlock_t lock; /* of the list */
    struct token *list;
    int count;
};

/* The client that sent a request, and the limits of its token. */
struct bearer {
    struct client *client; /* NULL: the client is not known */
    struct limit requests, bytes;
    struct rights *rights; /* held; NULL: all tensors, without a bound */
};

void tokens_init(struct tokens *tokens, struct clients *clients);
void tokens_release(struct tokens *tokens);

/* Replaces the list by what `path` says, whole or not at all; what a name has used of its quotas
 * stays. Errors: INVALID_PARAMETER, with every line that is wrong and never with a
 * token. */
MUST_CHECK enum error_code tokens_load(struct tokens *tokens, const char *path,
                                       struct error *error);

/* Finds the client to whom `authorization` ("Bearer ...", NULL: absent) belongs; the caller
 * leaves the bearer. Errors: UNAUTHENTICATED, RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code tokens_find(struct tokens *tokens, const char *authorization,
                                       struct bearer *bearer, struct error *error);

/* Gives back what a bearer holds: its client and its rights. */
void bearer_leave(struct bearer *bearer, struct clients *clients);

#endif
