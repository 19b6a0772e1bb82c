#include "server/http/parts.h"

#include "server/base/clock.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>

static void answer_plainly(struct tls_wire *wire)
{
    struct peer *peer = (struct peer *)((char *)wire - offsetof(struct peer, wire));
    struct error error;
    error_clear(&error);
    error_set(&error, ERROR_INVALID_HEADER, NULL,
              "plain HTTP came to an address that speaks TLS: the URL begins with https://");
    peer->session = NULL; /* TLS is not in use yet, and the answer must be readable */
    http_last_word(peer, MHD_HTTP_BAD_REQUEST, &error);
    http_account_refused(peer, &error);
}

/* false: a TLS session that gets no credentials cannot go on. */
static bool open_session(struct peer *peer, struct MHD_Connection *connection)
{
    if (!peer->daemon->is_tls)
        return true;
    peer->session =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session;
    peer->wire = (struct tls_wire){.fd = peer->fd, .on_plain = answer_plainly};
    peer->credentials =
        tls_attach(&peer->daemon->http->server->access.tls, peer->session, &peer->wire);
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
    peer->thread = pthread_self();
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

/* Whether the client may still send, so that a close would be a reset, and its answer lost: bytes
 * that are not read say so, and a head or a handshake that has not come to its end. */
static bool may_be_sending(const struct peer *peer)
{
    int unread = 0;
    return peer->lingers || peer->phase == PEER_NEW || peer->phase == PEER_HEAD ||
           (ioctl(peer->fd, FIONREAD, &unread) == 0 && unread > 0);
}

/* libmicrohttpd closes its descriptor after this; ours keeps the connection half open. */
void http_peer_close(struct http_daemon *daemon, struct peer *peer)
{
    if (!peer)
        return;
    unlist(daemon, peer);
    tls_detach(&daemon->http->server->access.tls, peer->credentials);
    if (may_be_sending(peer)) {
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
