#include "server/http/parts.h"

#include "server/base/clock.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <stdlib.h>

/* false: a TLS session that gets no credentials cannot go on. */
static bool open_session(struct peer *peer, struct MHD_Connection *connection)
{
    if (!peer->daemon->is_tls)
        return true;
    peer->session =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session;
    peer->credentials = tls_attach(&peer->daemon->http->server->access.tls, peer->session);
    return peer->credentials;
}

static void enlist(struct http_daemon *daemon, struct peer *peer)
{
    pthread_mutex_lock(&daemon->peers_lock);
    peer->next = daemon->peers;
    if (peer->next)
        peer->next->previous = peer;
    daemon->peers = peer;
    pthread_mutex_unlock(&daemon->peers_lock);
    atomic_fetch_add(&daemon->connections, 1);
    atomic_fetch_add(&daemon->http->connections, 1);
    atomic_fetch_sub(&daemon->http->placed, 1);
}

struct peer *http_peer_open(struct http_daemon *daemon, struct MHD_Connection *connection)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    peer->daemon = daemon;
    peer->started_ns = clock_ns();
    http_peer_enter(peer, PEER_NEW, peer->started_ns);
    peer->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    peer->address = address_of(
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
    address_print(&peer->address, peer->name);
    peer->is_proxy = networks_hold(&daemon->http->server->access.trusted_proxies, &peer->address);
    if (!open_session(peer, connection)) {
        free(peer);
        return NULL;
    }
    enlist(daemon, peer);
    return peer;
}

static void unlist(struct http_daemon *daemon, struct peer *peer)
{
    pthread_mutex_lock(&daemon->peers_lock);
    if (peer->next)
        peer->next->previous = peer->previous;
    *(peer->previous ? &peer->previous->next : &daemon->peers) = peer->next;
    pthread_mutex_unlock(&daemon->peers_lock);
    atomic_fetch_sub(&daemon->connections, 1);
    atomic_fetch_sub(&daemon->http->connections, 1);
}

/* libmicrohttpd closes its descriptor after this; ours keeps the connection half open. */
void http_peer_close(struct http_daemon *daemon, struct peer *peer)
{
    if (!peer)
        return;
    unlist(daemon, peer);
    tls_detach(&daemon->http->server->access.tls, peer->credentials);
    if (peer->lingers) {
        int fd = fcntl(peer->fd, F_DUPFD_CLOEXEC, 0);
        if (fd >= 0)
            linger_take(&daemon->http->lingerers, fd);
    }
    free(peer);
}

void http_peer_enter(struct peer *peer, enum peer_phase phase, uint64_t now_ns)
{
    atomic_store_explicit(&peer->since_ns, now_ns, memory_order_relaxed);
    atomic_store_explicit(&peer->phase, phase, memory_order_relaxed);
}

struct peer *http_peer_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}
