/* origin: what a web page in a browser may do to resident tensors. A browser sends a page's
 * requests to other origins too and only hides the answers, so a request that changes a tensor
 * would have changed it. And a page may give its own host name the address of this machine (DNS
 * rebinding), which makes it a page of the server's origin: so over loopback the Host must be a
 * name of this server. */
#ifndef SERVER_ACCESS_ORIGIN_H
#define SERVER_ACCESS_ORIGIN_H

#include <stdbool.h>

/* Header values, NULL where absent. */
struct origin_facts {
    const char *origin, *fetch_site, *host;
    const char *cors_origins, *server_names; /* settings */
    bool is_tls, is_loopback, has_token, is_proxied;
};

/* Why the request may not change a resident; NULL: it may. */
const char *origin_forbids_change(const struct origin_facts *facts);

/* Why the request may not use residents at all; NULL: it may. */
const char *origin_forbids_use(const struct origin_facts *facts);

#endif
