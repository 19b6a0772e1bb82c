/* forwarded: the client behind trusted proxies, from X-Forwarded-For. Each proxy appends the
 * address that it was called from; whatever stands before the first one that is not trusted was
 * written by the client itself. */
#ifndef SERVER_NET_FORWARDED_H
#define SERVER_NET_FORWARDED_H

#include "server/net/network.h"

struct forwarded {
    const struct networks *trusted;
    struct address peer, client;
};

/* `peer` is who is connected. */
void forwarded_init(struct forwarded *forwarded, const struct networks *trusted,
                    const struct address *peer);

/* The value of one line; lines come in their order. */
void forwarded_add(struct forwarded *forwarded, const char *value);

#endif
