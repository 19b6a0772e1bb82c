#include "server/http/parts.h"

#include "server/base/clock.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>

/* How long a new connection is waited for: a client that connects has something to say. */
#define FIRST_BYTE_NS (500 * MSEC)

/* Whether the client has sent anything, read or not; false where the socket cannot tell. */
static bool has_sent(int fd)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
           size >=
               offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received &&
           info.tcpi_bytes_received > 0;
}

static bool has_unread(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

static bool is_quiet(const struct peer *peer, uint64_t now)
{
    if (peer->is_ended)
        return true;
    switch ((enum peer_phase)peer->phase) {
    case PEER_NEW:
        return now >= peer->since_ns + FIRST_BYTE_NS && !has_sent(peer->fd);
    case PEER_IDLE:
        return !has_unread(peer->fd);
    case PEER_HEAD:
    case PEER_READING:
    case PEER_WORKING:
    case PEER_SENDING:
        return false;
    }
    return false;
}

static bool is_quiet_daemon(struct http_daemon *daemon, uint64_t now)
{
    bool is = true;
    pthread_mutex_lock(&daemon->peers_lock);
    for (struct peer *peer = daemon->peers; peer && is; peer = peer->next)
        is = is_quiet(peer, now);
    pthread_mutex_unlock(&daemon->peers_lock);
    return is;
}

/* libmicrohttpd never shows a connection for which it has no memory: it is waited for as long as
 * for a first byte. */
static bool all_are_seen(const struct http *http, uint64_t now)
{
    return http->placed == 0 || now >= http->placed_ns + FIRST_BYTE_NS;
}

bool http_is_quiet(struct http *http)
{
    uint64_t now = clock_ns();
    if (http_requests(http) > 0 || !all_are_seen(http, now) || linger_count(&http->lingerers) > 0)
        return false;
    for (int i = 0; i < http->daemon_count; i++)
        if (!is_quiet_daemon(&http->daemons[i], now))
            return false;
    return true;
}
