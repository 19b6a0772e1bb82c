/* parts: what the files of this folder share: connections, requests, and who hands what to whom. */
#ifndef SERVER_HTTP_PARTS_H
#define SERVER_HTTP_PARTS_H

#include "server/access/origin.h"
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
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

struct MHD_Connection;
struct MHD_Daemon;

enum {
    HTTP_DAEMONS_MAX = METRICS_SHARDS_MAX,
    HTTP_POOL_BYTES = 32 * 1024, /* of a connection: a head, and one piece of a body at a time */
    HTTP_POOL_KEPT = 2 * 1024,   /* of it for the head of the answer */
    HTTP_ANSWER_MAX = 1024       /* of an answer that goes around libmicrohttpd */
};

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
    char turned_away[HTTP_ANSWER_MAX]; /* the answer to a connection over the limit */
    size_t turned_away_size;
};

enum peer_phase {
    PEER_NEW,     /* no request yet */
    PEER_IDLE,    /* between two requests */
    PEER_HEAD,    /* the next one's line has come, the rest of its head has not */
    PEER_READING, /* a body */
    PEER_WORKING,
    PEER_SENDING /* an answer */
};

/* A connection, from its acceptance to its end. */
struct peer {
    struct peer *next, *previous; /* in its daemon's list */
    struct http_daemon *daemon;
    pthread_t thread; /* the daemon's */
    int fd;
    bool lingers; /* an answer went out before the request was read whole */
    uint64_t started_ns, requests;
    struct address address;
    char name[ADDRESS_TEXT_MAX]; /* the address as text */
    bool is_proxy;               /* whose X-Forwarded-For is believed */

    /* The request whose line has come, until its head is whole. */
    struct MHD_Connection *head_of; /* NULL: there is none */
    const char *target;             /* as sent, in libmicrohttpd's memory */
    size_t target_size;
    int last_status; /* of an answer that went around libmicrohttpd; 0: none */

    void *session; /* of TLS; NULL: none */
    struct tls_credentials *credentials;
    struct tls_wire wire;
    bool is_certified; /* its client certificate was looked at */

    /* The query of the request that begins, behind the `?`; its first byte is kept in query_byte:
     * see head.c. */
    const char *query; /* NULL: none */
    size_t query_size;
    char query_byte;
    bool path_is_escaped;

    /* Written by the daemon's thread, read by the reaper. */
    _Atomic enum peer_phase phase;
    _Atomic uint64_t since_ns; /* of the phase */
    _Atomic uint64_t received; /* bytes of the body being read */

    /* The reaper's window: the since_ns of its phase, when it began, and the bytes that had moved
     * by then. */
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
    struct query query;                  /* of requests about residents */
    const char *target[QUERY_COUNT + 3]; /* filled for a request with a key */
    struct origin_facts origin;          /* of a job's */
    struct body body;
    size_t discarded;  /* bytes of a refused body */
    bool is_suspended; /* and counted so */
    bool is_computed;  /* a worker has handed the job back */
    struct reply reply;
    struct address client; /* the peer's, or the one that a trusted proxy says */
    struct grant grant;
    uint64_t begin_ns, answer_ns, end_ns;
    char request_id[REQUEST_ID_TEXT_MAX];
    struct trace trace;

    struct job job; /* last, as job_init clears the part of it that must be */
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

/* head.c: called with a request's line, `target` as sent, and with all of its head. false: the head
 * leaves no room for an answer in libmicrohttpd's memory. */
void http_head_begin(struct MHD_Connection *connection, const char *target);
MUST_CHECK bool http_head_read(struct exchange *x, const struct request_line *line);

/* Why libmicrohttpd refuses a head; true: because it is too large. */
bool http_head_explain(struct MHD_Connection *connection, struct error *error);
void http_head_too_large(struct error *error);

/* last_word.c: answers that go around libmicrohttpd, where it has none or a wrong one, and what it
 * says in its log. `text` is of HTTP_ANSWER_MAX bytes. */
size_t http_print_answer(char *text, size_t capacity, int status, const struct error *error);
bool http_peer_say(struct peer *peer, const char *bytes, size_t size);
void http_last_word(struct peer *peer, int status, const struct error *error);
void http_library_says(struct http_daemon *daemon, const char *format, va_list arguments);

/* visitor.c: who asks, and whether they may have the route that was found. Errors: FORBIDDEN,
 * and those of access_ask. */
void http_visitor_look(struct exchange *x);
MUST_CHECK enum error_code http_visitor_admit(struct exchange *x);

/* infer.c: http_job_open prepares for the body of a computation, by what the headers say of it;
 * once the body is in, http_infer starts it. true: x->job or x->job.error is the answer; false: the
 * connection is suspended and the job is not ours any more. Errors: x->job.error. */
MUST_CHECK enum error_code http_job_open(struct exchange *x);

/* Where what is known of a tensor is not all in memory, prepares a job that sees to it that it is;
 * else it stays a job of another kind. */
void http_look_open(struct exchange *x);
bool http_infer(struct exchange *x);

/* tensors.c: http_query_read reads the query; http_holds_of says what a job of this visitor may do
 * with residents, http_holds_setup also what its headers ask of them; http_tensor_open prepares for
 * the body of a job about one. Errors: those of query_check, of the headers that are about
 * residents, and of what the URL says of a tensor. */
MUST_CHECK enum error_code http_query_read(struct exchange *x);
void http_holds_of(struct exchange *x, struct holds_setup *setup);
MUST_CHECK enum error_code http_holds_setup(struct exchange *x, struct holds_setup *setup);
MUST_CHECK enum error_code http_tensor_open(struct exchange *x, struct job_setup *setup);

/* Why the visitor may use no residents; NULL: it may. */
const char *http_forbids_use(const struct exchange *x);

/* Counts a connection that runs again. */
void http_resumed(struct exchange *x);

/* reply.c: queues x's answer: its error if it has one, else its reply. */
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

/* account.c: counts a request that is over, and logs it; and one that never became an exchange. */
void http_account(const struct exchange *x, bool was_sent);
void http_account_refused(const struct peer *peer, const struct error *error);

#endif
