#include "server/http_parts.h"

#include "server/clock.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void print_address(const struct sockaddr *address, char *text, size_t size)
{
    socklen_t length =
        address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (getnameinfo(address, length, text, (socklen_t)size, NULL, 0, NI_NUMERICHOST) != 0)
        strcpy(text, "unix");
}

struct peer *http_peer_open(struct http_daemon *daemon, struct MHD_Connection *connection)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    peer->daemon = daemon;
    peer->started_ns = clock_ns();
    http_peer_enter(peer, PEER_NEW);
    peer->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    print_address(
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr,
        peer->address, sizeof peer->address);
    pthread_mutex_lock(&daemon->peers_lock);
    peer->next = daemon->peers;
    if (peer->next)
        peer->next->previous = peer;
    daemon->peers = peer;
    pthread_mutex_unlock(&daemon->peers_lock);
    return peer;
}

static void unlist(struct http_daemon *daemon, struct peer *peer)
{
    pthread_mutex_lock(&daemon->peers_lock);
    if (peer->next)
        peer->next->previous = peer->previous;
    *(peer->previous ? &peer->previous->next : &daemon->peers) = peer->next;
    pthread_mutex_unlock(&daemon->peers_lock);
}

/* libmicrohttpd closes its descriptor after this; ours keeps the connection half open. */
void http_peer_close(struct http_daemon *daemon, struct peer *peer)
{
    atomic_fetch_sub_explicit(&daemon->connections, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&daemon->http->connections, 1, memory_order_relaxed);
    if (!peer)
        return;
    unlist(daemon, peer);
    if (peer->lingers) {
        int fd = fcntl(peer->fd, F_DUPFD_CLOEXEC, 0);
        if (fd >= 0)
            linger_take(&daemon->http->lingerers, fd);
    }
    free(peer);
}

void http_peer_enter(struct peer *peer, enum peer_phase phase)
{
    atomic_store_explicit(&peer->since_ns, clock_ns(), memory_order_relaxed);
    atomic_store_explicit(&peer->phase, phase, memory_order_relaxed);
}

struct peer *http_peer_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}
