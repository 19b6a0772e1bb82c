#include "server/http/parts.h"

#include "server/net/forwarded.h"

#include <microhttpd.h>
#include <strings.h>

static enum MHD_Result read_forwarded(void *forwarded, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    (void)kind;
    if (value && strcasecmp(name, "X-Forwarded-For") == 0)
        forwarded_add(forwarded, value);
    return MHD_YES;
}

void http_visitor_look(struct exchange *x)
{
    struct forwarded forwarded;
    x->client = x->peer->address;
    if (!x->peer->is_proxy || !x->headers.value[HEADER_FORWARDED_FOR])
        return;
    forwarded_init(&forwarded, &x->server->access.trusted_proxies, &x->peer->address);
    MHD_get_connection_values(x->connection, MHD_HEADER_KIND, read_forwarded, &forwarded);
    x->client = forwarded.client;
}

/* Once a connection: its certificate stays the same. */
static enum error_code check_certificate(struct peer *peer, struct error *error)
{
    if (!peer->credentials || peer->is_certified)
        return ERROR_NONE;
    enum error_code code = tls_check_client(peer->credentials, peer->session, error);
    peer->is_certified = code == ERROR_NONE;
    return code;
}

enum error_code http_visitor_admit(struct exchange *x)
{
    struct error *error = &x->job.error;
    enum route_kind kind = x->match.route ? x->match.route->kind : ROUTE_INFO;
    if (kind != ROUTE_PROBE && check_certificate(x->peer, error) != ERROR_NONE)
        return error->code;
    if (x->headers.count[HEADER_AUTHORIZATION] > 1)
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "Authorization came %d times, it may come once",
                         x->headers.count[HEADER_AUTHORIZATION]);
    const struct visitor visitor = {x->headers.value[HEADER_AUTHORIZATION], x->client};
    return access_ask(&x->server->access, &visitor, kind, x->framing.length, &x->grant, error);
}
