/* forwarded: the client behind trusted proxies, from X-Forwarded-For. Each proxy appends its
 * caller's address. Read from the end, the first address that is no trusted proxy's is the client;
 * everything in front of it may be the client's invention. */
#ifndef SERVER_NET_FORWARDED_H
#define SERVER_NET_FORWARDED_H

#include "server/net/network.h"

struct forwarded {
    const struct networks *trusted;
    struct address peer, client;
};

/* `peer` is the other end of the connection. */
void forwarded_init(struct forwarded *forwarded, const struct networks *trusted,
                    const struct address *peer);

/* Adds the value of one header line. Lines are added in their order. */
void forwarded_add(struct forwarded *forwarded, const char *value);

#endif
