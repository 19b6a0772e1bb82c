#include "server/access/origin.h"

#include "server/access/cors.h"
#include "server/base/list.h"
#include "server/net/network.h"

#include <string.h>
#include <strings.h>

static bool is_scheme_and_host(const char *origin, const char *scheme, const char *host)
{
    size_t size = strlen(scheme);
    return strncasecmp(origin, scheme, size) == 0 && strcasecmp(origin + size, host) == 0;
}

/* Behind a proxy that ends TLS the page's scheme is not ours. */
static bool is_own(const struct origin_facts *f)
{
    if (!f->host)
        return false;
    return ((f->is_tls || f->is_proxied) && is_scheme_and_host(f->origin, "https://", f->host)) ||
           ((!f->is_tls || f->is_proxied) && is_scheme_and_host(f->origin, "http://", f->host));
}

const char *origin_forbids_change(const struct origin_facts *f)
{
    if (cors_allow(f->cors_origins, f->origin))
        return NULL;
    if (f->fetch_site &&
        (strcmp(f->fetch_site, "cross-site") == 0 || strcmp(f->fetch_site, "same-site") == 0))
        return "a page of another origin may not change tensors (setting cors_origins)";
    if (f->origin && !is_own(f))
        return "a page of this Origin may not change tensors (setting cors_origins)";
    return NULL;
}

static bool is_listed(const char *names, const char *host, size_t size)
{
    size_t word;
    for (const char *name = names; (name = list_next(name, &word)); name += word)
        if (word == size && strncasecmp(name, host, size) == 0)
            return true;
    return false;
}

static bool is_own_name(const struct origin_facts *f)
{
    struct address address;
    if (!f->host)
        return true; /* HTTP/1.0: no browser */
    size_t size = strlen(f->host);
    if (address_parse(&address, f->host, (int)size))
        return true;
    size = strcspn(f->host, ":");
    return (size == 9 && strncasecmp(f->host, "localhost", size) == 0) ||
           is_listed(f->server_names, f->host, size);
}

const char *origin_forbids_use(const struct origin_facts *f)
{
    if (!f->is_loopback || f->has_token || f->is_proxied || is_own_name(f))
        return NULL;
    return "over loopback Host must be an address, localhost, or one of the setting server_names";
}
