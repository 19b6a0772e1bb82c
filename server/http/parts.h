/* parts: what the files of this folder share: connections, requests, and who hands what to whom. */
#ifndef SERVER_HTTP_PARTS_H
#define SERVER_HTTP_PARTS_H

#include "server/http/headers.h"
#include "server/http/http.h"
#include "server/http/reply.h"
#include "server/http/request_id.h"
#include "server/http/route.h"
#include "server/http/trace.h"
#include "server/jobs/job.h"
#include "server/memory/body.h"
#include "server/net/linger.h"
#include "server/server.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct MHD_Connection;
struct MHD_Daemon;

enum { HTTP_DAEMONS_MAX = METRICS_SHARDS_MAX };

/* One epoll loop. */
struct http_daemon {
    struct http *http;
    struct MHD_Daemon *mhd;
    bool is_tls;
    int pulse; /* eventfd: wakes the loop */
    atomic_int connections;
    /* of the loop's own thread */
    struct lane *lane;
    struct recall *recall;
    struct request_ids ids;
    struct metrics_shard *metrics;
    /* shared with the reaper */
    pthread_mutex_t peers_lock;
    struct peer *peers;
};

struct http {
    struct server *server;
    struct http_daemon daemons[HTTP_DAEMONS_MAX];
    int daemon_count;
    struct lingerers lingerers;
    atomic_int requests, connections;
    atomic_int placed; /* given to a daemon whose thread has not seen them yet */
    _Atomic uint64_t placed_ns;
    _Atomic uint64_t accepted, refused, reaped;
    atomic_int suspended; /* requests that wait for a worker's answer */

    pthread_t acceptor;
    unsigned turn; /* the acceptor's, among daemons */
    bool is_accepting;
    int stop; /* eventfd: the acceptor ends */
    struct listeners *listeners;
    char turned_away[512]; /* the answer to a connection over the limit */
    size_t turned_away_size;
};

enum peer_phase {
    PEER_NEW,     /* no request yet */
    PEER_IDLE,    /* between two requests */
    PEER_READING, /* a body */
    PEER_WORKING,
    PEER_SENDING /* an answer */
};

/* A connection, from its acceptance to its end. */
struct peer {
    struct peer *next, *previous; /* in its daemon's list */
    struct http_daemon *daemon;
    int fd;
    bool lingers; /* an answer went out before the request was read whole */
    uint64_t started_ns, requests;
    struct address address;
    char name[ADDRESS_TEXT_MAX]; /* the address as text */
    bool is_proxy;               /* whose X-Forwarded-For is believed */

    void *session; /* of TLS; NULL: none */
    struct tls_credentials *credentials;
    bool is_certified; /* its client certificate was looked at */

    /* Written by the daemon's thread, read by the reaper. */
    _Atomic enum peer_phase phase;
    _Atomic uint64_t since_ns; /* of the phase */
    _Atomic uint64_t received; /* bytes of the body being read */

    /* The reaper's: what had moved when its window began, for the phase that began then. */
    uint64_t window_of, window_ns, window_moved;
    atomic_bool is_ended; /* by the reaper */
};

/* A request and its answer. It lies in its job's home block and is freed when both the connection
 * and the answer are done with it. */
struct exchange {
    struct server *server;
    struct http_daemon *daemon;
    struct MHD_Connection *connection;
    struct peer *peer;
    int references;

    enum method method;
    struct headers headers;
    struct framing framing;
    bool must_close; /* what follows cannot be trusted to be a request */
    struct route_match match;
    struct body body;
    size_t discarded;  /* bytes of a refused body */
    bool is_suspended; /* counted as such */
    bool is_computed;  /* a worker has handed the job back */
    struct reply reply;
    struct address client; /* the peer's, or the one that a trusted proxy says */
    struct grant grant;
    uint64_t begin_ns, answer_ns, end_ns;
    char request_id[REQUEST_ID_TEXT_MAX];
    struct trace trace;

    struct job job; /* last: job_init clears it, and no more of it than must be */
};

/* exchange.c: one call for the headers, one for each piece of the body, one for its end, and
 * one more when a suspended connection runs again. false: the connection is closed at once. */
bool http_request(struct http_daemon *daemon, struct MHD_Connection *connection, const char *url,
                  const char *method, const char *version, const char *upload, size_t *upload_size,
                  void **context);

/* The request is over; `was_sent`: its answer went out whole. */
void http_completed(struct exchange *x, bool was_sent);

/* Drops one reference. */
void exchange_release(struct exchange *x);

/* visitor.c: who asks, and whether they may have the route that was found. Errors: FORBIDDEN,
 * and those of access_ask. */
void http_visitor_look(struct exchange *x);
MUST_CHECK enum error_code http_visitor_admit(struct exchange *x);

/* infer.c: http_infer_open prepares for the body of a computation, by what the headers say of it;
 * once the body is in, http_infer starts it. true: x->job or x->job.error is the answer; false: the
 * connection is suspended and the job is not ours any more. Errors: x->job.error. */
MUST_CHECK enum error_code http_infer_open(struct exchange *x);
bool http_infer(struct exchange *x);

/* The connection runs again: counts it so. */
void http_resumed(struct exchange *x);

/* reply.c: queues x's answer: its error, else its reply. */
bool http_reply(struct exchange *x);

/* The answer when there is no memory for an exchange. */
bool http_reply_exhausted(struct MHD_Connection *connection);

/* peer.c: connections; http_peer_enter notes what one does from now on. */
struct peer *http_peer_open(struct http_daemon *daemon, struct MHD_Connection *connection);
void http_peer_close(struct http_daemon *daemon, struct peer *peer); /* NULL is fine */
void http_peer_enter(struct peer *peer, enum peer_phase phase, uint64_t now_ns);
struct peer *http_peer_of(struct MHD_Connection *connection);

/* pulse.c: what http_pulse needs of a daemon that runs. */
MUST_CHECK bool http_pulse_open(struct http_daemon *daemon);
void http_pulse_close(struct http_daemon *daemon);

/* daemon.c */
MUST_CHECK enum error_code http_daemon_start(struct http_daemon *daemon, struct http *http,
                                             struct error *error);
void http_daemon_stop(struct http_daemon *daemon);

/* account.c: counts a request that is over, and logs it. */
void http_account(const struct exchange *x, bool was_sent);

#endif
