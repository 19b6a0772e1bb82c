/* access: who may do what. It holds the certificates, the tokens, the networks of trusted proxies
 * and the clients, and answers for one request. */
#ifndef SERVER_ACCESS_ACCESS_H
#define SERVER_ACCESS_ACCESS_H

#include "kernels/error.h"
#include "server/access/client.h"
#include "server/access/token.h"
#include "server/config/config.h"
#include "server/net/listen.h"
#include "server/net/network.h"
#include "server/net/tls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct access {
    const struct config *config;
    struct clients clients;
    struct tokens tokens;
    struct tls tls;
    struct networks trusted_proxies;
};

/* Reads what the settings name; `memory` is what requests may hold together, `wants_tls` whether
 * there must be a certificate. Errors: INVALID_PARAMETER. The caller ends with access_release, also
 * after an error. */
MUST_CHECK enum error_code access_init(struct access *access, const struct config *config,
                                       size_t memory, bool wants_tls, struct error *error);

/* Whether access_init would succeed. Errors: as access_init. */
MUST_CHECK enum error_code access_check(const struct config *config, struct error *error);

/* All grants must be given back. */
void access_release(struct access *access);

/* Reads the files again. A wrong file is told to `complain`, and the contents read before stay in
 * force. */
void access_reload(struct access *access,
                   void (*complain)(void *context, const struct error *error), void *context);

/* Whether anybody on a network may use that listener: no TLS, and no token is asked for. */
bool access_is_open(const struct access *access, const struct listener *listener);

/* The sender of a request. */
struct visitor {
    const char *authorization; /* the header; NULL: absent */
    struct address address;    /* of the client, not of a proxy */
};

/* What a visitor was granted. A zeroed grant grants nothing. */
struct grant {
    struct bearer bearer;
    uint64_t charged_bytes;
    int retry_after; /* seconds, with QUOTA_EXCEEDED */
};

enum route_kind {
    ROUTE_INFO,    /* about the server; logged as any other request */
    ROUTE_PROBE,   /* polled by machines: logged at debug level, open to everybody */
    ROUTE_PAGE,    /* the same page for everybody, open to everybody */
    ROUTE_METRICS, /* polled as well; open as ROUTE_INFO */
    ROUTE_INFER,   /* has a body; computed by a job instead of a handler */
    ROUTE_TENSOR,  /* the same, about a resident tensor */
    ROUTE_LOOK     /* about resident tensors, with a handler */
};

/* Whether the visitor may use a route of that kind, with a body of `length` bytes (-1: not known).
 * The grant is given back with access_leave, also after an error. Errors: UNAUTHENTICATED,
 * QUOTA_EXCEEDED, RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code access_ask(struct access *access, const struct visitor *visitor,
                                      enum route_kind kind, int64_t length, struct grant *grant,
                                      struct error *error);

/* The request is over: `bytes` of bodies went both ways, and all its memory is given back. */
void access_leave(struct access *access, struct grant *grant, uint64_t bytes);

/* The token's name; NULL when there was none. */
const char *grant_token(const struct grant *grant);

/* The client's part of the memory; NULL: no bound. */
struct budget *access_share(const struct access *access, const struct grant *grant);

#endif
