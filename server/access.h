/* access: who may do what. It holds the certificates, the tokens, the networks of trusted proxies
 * and the clients, and answers for one request. */
#ifndef SERVER_ACCESS_H
#define SERVER_ACCESS_H

#include "kernels/error.h"
#include "server/client.h"
#include "server/config.h"
#include "server/network.h"
#include "server/route.h"
#include "server/tls.h"
#include "server/token.h"

#include <stddef.h>

struct access {
    struct clients clients;
    struct tokens tokens;
    struct tls tls;
    struct networks trusted_proxies;
    bool has_tokens; /* else everybody may do everything */
    bool has_shares; /* client_share is set */
};

/* Reads what the settings name; `memory` is what requests may hold together. Errors:
 * INVALID_PARAMETER. The caller ends with access_release, also after an error. */
MUST_CHECK enum error_code access_init(struct access *access, const struct config *config,
                                       size_t memory, struct error *error);
void access_release(struct access *access);

/* Reads the files again; what is wrong stays as it was. Errors: INVALID_PARAMETER, the first. */
MUST_CHECK enum error_code access_reload(struct access *access, const struct config *config,
                                         struct error *error);

/* Who sends a request. */
struct visitor {
    const char *authorization; /* the header; NULL: absent */
    struct address address;    /* of the client, not of a proxy */
};

/* What it was granted: ended by access_leave. Zeroed, it is nothing. */
struct grant {
    struct bearer bearer;
    uint64_t wait_ns; /* with QUOTA_EXCEEDED */
    uint64_t charged_bytes;
};

/* Whether the visitor may have that route. `length` is that of the body, -1 when not known. Errors:
 * UNAUTHENTICATED, QUOTA_EXCEEDED. */
MUST_CHECK enum error_code access_ask(struct access *access, const struct config *config,
                                      const struct visitor *visitor, enum route_kind kind,
                                      int64_t length, struct grant *grant, struct error *error);

/* The request is over: `bytes` of bodies went both ways. */
void access_leave(struct access *access, struct grant *grant, uint64_t bytes);

/* The token's name; NULL when there was none. */
const char *grant_token(const struct grant *grant);

/* The client's part of the memory; NULL: no bound. */
struct budget *grant_share(const struct access *access, const struct grant *grant);

#endif
