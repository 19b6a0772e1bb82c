#include "server/http/http.h"

#include "proto/answer/problem.h"
#include "server/http/parts.h"

#include <stdlib.h>

/* What a connection over the limit is sent, whole: it never reaches a daemon. */
static void print_turned_away(struct http *http)
{
    struct error error;
    error_clear(&error);
    error_set(&error, ERROR_RESOURCE_EXHAUSTED, NULL,
              "too many connections, the limit "
              "max_connections is %d",
              (int)http->server->config.max_connections);
    http->turned_away_size = http_print_answer(http->turned_away, sizeof http->turned_away,
                                               problem_status(error.code), &error);
}

int http_daemons(const struct listeners *listeners, int threads)
{
    return threads * (listeners_have(listeners, false) + listeners_have(listeners, true));
}

/* Daemons without TLS come first. */
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
