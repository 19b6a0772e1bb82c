#include "server/net/forwarded.h"

#include <string.h>

void forwarded_init(struct forwarded *forwarded, const struct networks *trusted,
                    const struct address *peer)
{
    *forwarded = (struct forwarded){trusted, *peer, *peer};
}

/* The client is the last address that is no trusted proxy's. A word that is no address makes the
 * peer the client: everything in front of that word may be invented. */
void forwarded_add(struct forwarded *forwarded, const char *value)
{
    while (*value) {
        struct address address;
        value += strspn(value, ", \t");
        int size = (int)strcspn(value, ", \t");
        if (size > 0 && !address_parse(&address, value, size))
            forwarded->client = forwarded->peer;
        else if (size > 0 && !networks_hold(forwarded->trusted, &address))
            forwarded->client = address;
        value += size;
    }
}
