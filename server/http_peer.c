#include "server/http_parts.h"

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
    peer->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    print_address(
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr,
        peer->address, sizeof peer->address);
    return peer;
}

/* libmicrohttpd closes its descriptor after this; ours keeps the connection half open. */
void http_peer_close(struct http_daemon *daemon, struct peer *peer)
{
    atomic_fetch_sub_explicit(&daemon->connections, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&daemon->http->connections, 1, memory_order_relaxed);
    if (!peer)
        return;
    if (peer->lingers) {
        int fd = fcntl(peer->fd, F_DUPFD_CLOEXEC, 0);
        if (fd >= 0)
            linger_take(&daemon->http->lingerers, fd);
    }
    free(peer);
}

struct peer *http_peer_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}
