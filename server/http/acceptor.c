#include "server/http/parts.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ACCEPTS_A_TURN = 64, BACK_OFF_MS = 100 };

/* Of several with equal loads the next in turn: a daemon counts a connection only when its thread
 * has seen it, and until then a burst must not go to one of them alone. */
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

/* Over TLS an answer would take a handshake, which costs more than what there is too much of. */
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
    /* On failure it closes the descriptor. */
    if (MHD_add_connection(daemon->mhd, fd, (struct sockaddr *)address, size) != MHD_YES)
        return;
}

/* false: the process has no descriptors left. */
static bool accept_some(struct http *http, const struct listener *listener)
{
    for (int i = 0; i < ACCEPTS_A_TURN; i++) {
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
        if (polls[0].revents)
            return NULL;
        for (int i = 1; i <= count; i++)
            if (polls[i].revents && !accept_some(http, &http->listeners->list[i - 1]))
                exhausted = true;
        /* The listener stays readable: without a pause this would spin until one closes. */
        if (exhausted)
            poll(polls, 1, BACK_OFF_MS);
    }
}

enum error_code http_accept(struct http *http, const struct listeners *listeners,
                            struct error *error)
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
