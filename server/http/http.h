/* http: connections. The only door to libmicrohttpd, which appears in server/http/ alone.
 *
 * One acceptor thread takes connections, N daemons (each an epoll loop with its own thread) read
 * requests and write answers. A small job runs on the daemon's thread; any other suspends its
 * connection, waits in the queue, and is answered when a worker hands it back. */
#ifndef SERVER_HTTP_HTTP_H
#define SERVER_HTTP_HTTP_H

#include "kernels/error.h"
#include "server/net/listen.h"

#include <stdint.h>

struct http;
struct server;

/* How many daemons there will be, each counting in a metrics shard of its own: `threads` for
 * addresses that speak TLS and as many for those that do not. */
int http_daemons(const struct listeners *listeners, int threads);

/* Starts the daemons; nothing is accepted yet. Errors: RESOURCE_EXHAUSTED, or the backend's. The
 * caller ends with http_free. */
MUST_CHECK enum error_code http_new(struct http **http, struct server *server,
                                    const struct listeners *listeners, int threads,
                                    struct error *error);

/* Accepts from these sockets from now on. They stay the caller's. */
MUST_CHECK enum error_code http_accept(struct http *http, struct listeners *listeners,
                                       struct error *error);

/* Shuts the sockets to new clients and accepts all that have connected by then. They are to be
 * closed next. */
void http_stop_accepting(struct http *http);

/* Whether nothing is under way any more: no request, no connection on which one may arrive at any
 * moment (just made, in its TLS handshake, with bytes that are not read yet), none that lingers.
 * Silent connections do not count. */
bool http_is_quiet(struct http *http);

/* Requests whose answer is not out yet; those of them that wait for a worker's answer; and open
 * connections. */
int http_requests(const struct http *http);
int http_suspended(const struct http *http);
int http_connections(const struct http *http);

/* Connections accepted since the start, and those of them that were turned away. */
uint64_t http_accepted(const struct http *http);
uint64_t http_turned_away(const struct http *http);

/* Ends connections whose clients are too slow (header_timeout, min_body_rate, min_send_rate), and
 * idle ones whose clients will send nothing more. Called about once a second; how many slow ones
 * were ended so far. */
void http_reap(struct http *http);
uint64_t http_reaped(const struct http *http);

/* Wakes loops that have so many connections that libmicrohttpd may sleep on what is ready; true
 * when there are any, which are then to be woken often. */
bool http_pulse(struct http *http);

/* No request may be suspended. */
void http_free(struct http *http);

#endif
