#include "server/http/parts.h"

#include "server/base/clock.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>

/* Bytes that the client has acknowledged; false where the socket cannot tell. */
static bool acknowledged(int fd, uint64_t *bytes)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        size < offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked)
        return false;
    *bytes = info.tcpi_bytes_acked;
    return true;
}

/* A transfer is looked at in windows of rate_grace: in each it must move rate * rate_grace
 * bytes. */
static bool is_slow(struct peer *peer, uint64_t since, uint64_t moved, uint64_t rate,
                    uint64_t window_ns, uint64_t now)
{
    if (peer->window_of != since) {
        peer->window_of = since;
        peer->window_ns = since;
        peer->window_moved = peer->phase == PEER_READING ? 0 : moved;
    }
    if (now - peer->window_ns < window_ns)
        return false;
    uint64_t wanted = rate * (window_ns / MSEC) / 1000;
    bool slow = moved - peer->window_moved < wanted;
    peer->window_ns = now;
    peer->window_moved = moved;
    return slow;
}

static bool must_end(struct peer *peer, const struct config *config, uint64_t now)
{
    uint64_t since = peer->since_ns, bytes;
    if (since > now)
        return false;
    switch ((enum peer_phase)peer->phase) {
    case PEER_NEW:
        return now - since > config->header_timeout;
    case PEER_IDLE:
    case PEER_HEAD:
        /* libmicrohttpd ends a connection that is silent for idle_timeout: whoever is still here
         * sends its headers byte by byte. */
        return now - since > config->idle_timeout + config->header_timeout;
    case PEER_READING:
        return is_slow(peer, since, peer->received, config->min_body_rate, config->rate_grace, now);
    case PEER_SENDING:
        return acknowledged(peer->fd, &bytes) &&
               is_slow(peer, since, bytes, config->min_send_rate, config->rate_grace, now);
    case PEER_WORKING:
        return false;
    }
    return false;
}

/* Whether the client may have closed its sending side unseen. libmicrohttpd misses an end that
 * arrives together with the last bytes. On an idle connection those bytes were a request, so one
 * look is enough, a second later, when it has been answered. */
static bool may_have_finished(struct peer *peer, uint64_t now)
{
    uint64_t since = peer->since_ns;
    if (peer->phase == PEER_NEW || peer->phase == PEER_READING)
        return true;
    if (peer->phase != PEER_IDLE || now < since + SEC || peer->window_of == since)
        return false;
    peer->window_of = since;
    return true;
}

/* Makes an event for libmicrohttpd, which reads what has arrived and then the end. */
static void show_end(struct peer *peer, uint64_t now)
{
    struct pollfd p = {.fd = peer->fd, .events = POLLRDHUP};
    if (may_have_finished(peer, now) && poll(&p, 1, 0) > 0 && (p.revents & POLLRDHUP))
        shutdown(peer->fd, SHUT_RD);
}

/* Whether nothing is under way on the connection. Bytes that are not read yet are a request, which
 * gets its answer. */
static bool is_silent(struct peer *peer)
{
    struct pollfd p = {.fd = peer->fd, .events = POLLIN};
    return peer->phase == PEER_IDLE && poll(&p, 1, 0) == 0;
}

/* Shuts the connection; its daemon sees the end and closes it. A client that sends too slowly is
 * answered first. The descriptor is open as long as the peer is in the list. */
static void end(struct peer *peer)
{
    peer->is_ended = true;
    shutdown(peer->fd, peer->phase == PEER_READING ? SHUT_RD : SHUT_RDWR);
}

static int reap(struct http_daemon *daemon, uint64_t now)
{
    const struct server *server = daemon->http->server;
    bool drains = server->phase >= PHASE_DRAINING;
    int cut = 0;
    pthread_mutex_lock(&daemon->peers_lock);
    for (struct peer *peer = daemon->peers; peer; peer = peer->next) {
        if (peer->is_ended)
            continue;
        bool slow = must_end(peer, &server->config, now);
        cut += slow;
        if (slow || (drains && is_silent(peer)))
            end(peer);
        else
            show_end(peer, now);
    }
    pthread_mutex_unlock(&daemon->peers_lock);
    return cut;
}

void http_reap(struct http *http)
{
    uint64_t now = clock_ns();
    for (int i = 0; i < http->daemon_count; i++)
        http->reaped += (uint64_t)reap(&http->daemons[i], now);
}
