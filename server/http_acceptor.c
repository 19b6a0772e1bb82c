#include "proto/json_write.h"
#include "proto/problem.h"
#include "server/http_parts.h"

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

static struct http_daemon *least_loaded(struct http *http, bool is_tls)
{
    struct http_daemon *best = NULL;
    for (int i = 0; i < http->daemon_count; i++) {
        struct http_daemon *daemon = &http->daemons[i];
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
    atomic_fetch_add(&http->connections, 1);
    atomic_fetch_add(&daemon->connections, 1);
    if (MHD_add_connection(daemon->mhd, fd, (struct sockaddr *)address, size) != MHD_YES) {
        atomic_fetch_sub(&http->connections, 1);
        atomic_fetch_sub(&daemon->connections, 1);
    }
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

/* What a connection over the limit is sent, whole: it never reaches a daemon. */
static void print_turned_away(struct http *http)
{
    char body[PROBLEM_TEXT_MAX];
    struct error error;
    struct text text;
    error_clear(&error);
    error_set(&error, ERROR_RESOURCE_EXHAUSTED, NULL,
              "too many connections, the limit "
              "max_connections is %d",
              (int)http->server->config.max_connections);
    size_t size = problem_print(body, &error, false, NULL);
    text_init(&text, http->turned_away, sizeof http->turned_away);
    text_printf(&text,
                "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
                "Error-Code: %s\r\nRetry-After: 1\r\nConnection: close\r\n"
                "Content-Length: %zu\r\n\r\n%s",
                error_name(error.code), size, body);
    http->turned_away_size = text.size;
}

int http_daemons(const struct listeners *listeners, int threads)
{
    return threads * (listeners_have(listeners, false) + listeners_have(listeners, true));
}

/* Those without TLS first. */
static bool is_tls_daemon(const struct listeners *listeners, int threads, int i)
{
    return i >= threads || !listeners_have(listeners, false);
}

enum error_code http_new(struct http **made, struct server *server,
                         const struct listeners *listeners, int threads, struct error *error)
{
    struct http *http = calloc(1, sizeof *http);
    if (!http)
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for HTTP");
    http->server = server;
    print_turned_away(http);
    if (linger_init(&http->lingerers, error) != ERROR_NONE) {
        free(http);
        return error->code;
    }
    for (int i = 0; i < http_daemons(listeners, threads); i++) {
        http->daemons[i].is_tls = is_tls_daemon(listeners, threads, i);
        http->daemons[i].metrics = server->metrics.shards[i];
        if (http_daemon_start(&http->daemons[i], http, error) != ERROR_NONE) {
            http_free(http);
            return error->code;
        }
        http->daemon_count++;
    }
    *made = http;
    return ERROR_NONE;
}

int http_requests(const struct http *http)
{
    return atomic_load(&http->requests);
}

int http_suspended(const struct http *http)
{
    return atomic_load(&http->suspended);
}

uint64_t http_accepted(const struct http *http)
{
    return atomic_load_explicit(&http->accepted, memory_order_relaxed);
}

uint64_t http_turned_away(const struct http *http)
{
    return atomic_load_explicit(&http->refused, memory_order_relaxed);
}

uint64_t http_reaped(const struct http *http)
{
    return atomic_load_explicit(&http->reaped, memory_order_relaxed);
}

int http_connections(const struct http *http)
{
    return atomic_load(&http->connections);
}

void http_free(struct http *http)
{
    http_stop_accepting(http);
    for (int i = 0; i < http->daemon_count; i++)
        http_daemon_stop(&http->daemons[i]);
    linger_release(&http->lingerers);
    free(http);
}
