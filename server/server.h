/* server: what the parts share. One object, owned by life.c. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "server/access/access.h"
#include "server/config/config.h"
#include "server/jobs/cores.h"
#include "server/jobs/gpus.h"
#include "server/jobs/metrics.h"
#include "server/jobs/queue.h"
#include "server/jobs/worker.h"
#include "server/log/log.h"
#include "server/memory/block.h"
#include "server/memory/budget.h"
#include "server/net/listen.h"

/* In this order, never back. */
enum phase {
    PHASE_STARTING, /* listening, not ready */
    PHASE_READY,
    PHASE_LEAVING,  /* not ready, but everything is still served */
    PHASE_DRAINING, /* new requests are refused; what was accepted is finished */
    PHASE_STOPPING  /* what has not started is refused */
};

struct http;

struct server {
    struct config config;
    struct access access;
    struct log log;
    struct blocks blocks;
    struct budget budget;
    struct cores cores;
    struct gpus gpus;
    struct queue queue;
    struct workers workers;
    struct metrics metrics;
    const struct backend *backend;
    struct http *http;
    _Atomic enum phase phase;
};

/* From settings, which are loaded, and a log to a server that is ready and says so: binds, starts
 * all threads, tests every operation on each backend. Errors: what cannot be; then the process
 * ends. */
MUST_CHECK enum error_code server_start(struct server *server, struct listeners *listeners,
                                        struct error *error);

/* Ends all but the log. No request may be suspended, and nothing be accepted any more. */
void server_end(struct server *server);

#endif
