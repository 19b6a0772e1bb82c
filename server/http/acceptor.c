#include "server/http/parts.h"

#include "server/base/clock.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define LEAST_SETTLE_NS (50 * MSEC)
#define MOST_SETTLE_NS  (500 * MSEC)
#define EXHAUSTED_NS    (SEC) /* more when descriptors must come free first */

enum { ACCEPTS_A_TURN = 64, BACK_OFF_MS = 100, LAST_TURN_MS = 5 };

/* The daemon with the fewest connections, of several the next in turn: a daemon counts a connection
 * only when its thread has seen it, and until then a burst must not go to one daemon alone. */
static struct http_daemon *least_loaded(struct http *http, bool is_tls)
{
    struct http_daemon *best = NULL;
    unsigned turn = http->turn++;
    for (int i = 0; i < http->daemon_count; i++) {
        struct http_daemon *daemon =
            &http->daemons[(turn + (unsigned)i) % (unsigned)http->daemon_count];
        if (daemon->is_tls == is_tls &&
            (!best || atomic_load(&daemon->connections) < atomic_load(&best->connections)))
            best = daemon;
    }
    assert(best); /* each kind of listener has its daemons */
    return best;
}

/* A TLS client gets no answer: the handshake would cost more than the connection that is
 * refused. */
static void turn_away(struct http *http, int fd, bool is_tls)
{
    atomic_fetch_add_explicit(&http->refused, 1, memory_order_relaxed);
    if (is_tls ||
        send(fd, http->turned_away, http->turned_away_size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        close(fd);
    else
        linger_take(&http->lingerers, fd);
}

static void place(struct http *http, int fd, bool is_tls, struct sockaddr_storage *address,
                  socklen_t size)
{
    atomic_fetch_add_explicit(&http->accepted, 1, memory_order_relaxed);
    if (atomic_load(&http->connections) >= (int)http->server->config.max_connections) {
        turn_away(http, fd, is_tls);
        return;
    }
    /* libmicrohttpd 0.9 reads past the end of a Unix address. */
    if (address->ss_family == AF_UNIX) {
        memset(address, 0, sizeof *address);
        address->ss_family = AF_UNIX;
        size = sizeof(struct sockaddr);
    }
    struct http_daemon *daemon = least_loaded(http, is_tls);
    atomic_store(&http->placed_ns, clock_ns());
    atomic_fetch_add(&http->placed, 1);
    /* On failure it closes the descriptor. */
    if (MHD_add_connection(daemon->mhd, fd, (struct sockaddr *)address, size) != MHD_YES)
        atomic_fetch_sub(&http->placed, 1);
}

/* false: the process has no descriptors left. */
static bool accept_some(struct http *http, const struct listener *listener, int most)
{
    for (int i = 0; i < most; i++) {
        struct sockaddr_storage address;
        socklen_t size = sizeof address;
        int fd =
            accept4(listener->fd, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
        place(http, fd, listener->is_tls, &address, size);
    }
    return true;
}

/* How long TCP handshakes under way get to become connections: a quarter of drain_delay, within
 * bounds. */
static uint64_t settle_ns(const struct http *http)
{
    uint64_t ns = http->server->config.drain_delay / 4;
    return ns < LEAST_SETTLE_NS ? LEAST_SETTLE_NS : ns > MOST_SETTLE_NS ? MOST_SETTLE_NS : ns;
}

/* Closing a listening socket resets the connections that wait in it, though their clients may have
 * sent a request. So the sockets are shut to new connections first, then all that wait are
 * accepted. Those of an inherited socket are left to the next process. */
static void take_the_last(struct http *http)
{
    uint64_t end = clock_ns() + settle_ns(http);
    bool is_exhausted = false;
    for (int i = 0; i < http->listeners->count; i++)
        if (!listener_shut(&http->listeners->list[i]))
            log_say(&http->server->log, LOG_WARN, "a socket cannot be shut before it is closed",
                    "address", http->listeners->list[i].address);
    while (clock_ns() < end + (is_exhausted ? EXHAUSTED_NS : 0)) {
        poll(NULL, 0, LAST_TURN_MS);
        is_exhausted = false;
        for (int i = 0; i < http->listeners->count; i++)
            if (!http->listeners->list[i].is_inherited &&
                !accept_some(http, &http->listeners->list[i], INT_MAX))
                is_exhausted = true;
    }
}

static void *run(void *context)
{
    struct http *http = context;
    struct pollfd polls[LISTENERS_MAX + 1] = {{.fd = http->stop, .events = POLLIN}};
    int count = http->listeners->count;
    for (int i = 0; i < count; i++)
        polls[i + 1] = (struct pollfd){.fd = http->listeners->list[i].fd, .events = POLLIN};
    for (;;) {
        bool exhausted = false;
        if (poll(polls, (nfds_t)count + 1, -1) < 0)
            continue;
        if (polls[0].revents) {
            take_the_last(http);
            return NULL;
        }
        for (int i = 1; i <= count; i++)
            if (polls[i].revents &&
                !accept_some(http, &http->listeners->list[i - 1], ACCEPTS_A_TURN))
                exhausted = true;
        /* The listener stays readable: without a pause this would spin until one closes. */
        if (exhausted)
            poll(polls, 1, BACK_OFF_MS);
    }
}

enum error_code http_accept(struct http *http, struct listeners *listeners, struct error *error)
{
    http->listeners = listeners;
    http->stop = eventfd(0, EFD_CLOEXEC);
    if (http->stop >= 0 && pthread_create(&http->acceptor, NULL, run, http) == 0) {
        http->is_accepting = true;
        return ERROR_NONE;
    }
    if (http->stop >= 0)
        close(http->stop);
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "cannot start the acceptor thread");
}

void http_stop_accepting(struct http *http)
{
    uint64_t one = 1;
    if (!http->is_accepting)
        return;
    if (write(http->stop, &one, sizeof one) < 0)
        abort(); /* a fresh eventfd takes a 1 */
    pthread_join(http->acceptor, NULL);
    close(http->stop);
    http->is_accepting = false;
}
