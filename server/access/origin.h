/* origin: what a web page in a browser may do to resident tensors. A browser sends requests that
 * the page could not read the answers of; what changes something would be changed all the same. And
 * a page may give its own name the address of this machine, and then is of our origin: so over
 * loopback a name must be one of ours. */
#ifndef SERVER_ACCESS_ORIGIN_H
#define SERVER_ACCESS_ORIGIN_H

#include <stdbool.h>

/* Header values, NULL where absent. */
struct origin_facts {
    const char *origin, *fetch_site, *host;
    const char *cors_origins, *server_names; /* settings */
    bool is_tls, is_loopback, has_token, is_proxied;
};

/* Why such a request may not change anything; NULL: it may. */
const char *origin_forbids_change(const struct origin_facts *facts);

/* Why it may not use residents at all; NULL: it may. */
const char *origin_forbids_use(const struct origin_facts *facts);

#endif
