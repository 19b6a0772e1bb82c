/* server: the object that all parts of the server share. life.c owns it. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "kernels/machine.h"
#include "server/access/access.h"
#include "server/config/config.h"
#include "server/files/files.h"
#include "server/jobs/cores.h"
#include "server/jobs/gpus.h"
#include "server/jobs/metrics.h"
#include "server/jobs/queue.h"
#include "server/jobs/worker.h"
#include "server/log/log.h"
#include "server/memory/block.h"
#include "server/memory/budget.h"
#include "server/net/listen.h"
#include "server/tensors/store.h"

/* Phases follow each other in this order. */
enum phase {
    PHASE_STARTING, /* listening, not ready: it loads tensors */
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
    struct machine machine; /* measured by the first worker */
    struct gpus gpus;
    struct store store;
    struct files files;
    struct queue queue;
    struct workers workers;
    struct metrics metrics;
    const struct backend *backend;
    struct http *http;
    _Atomic enum phase phase;
    double start_seconds; /* of the process, since 1970: one number for as long as it runs */
};

/* Starts a server whose settings are loaded and whose log is open: binds, looks at the files of
 * tensors, starts all threads, tests every operation on each backend, and accepts connections.
 * Where there are tensors to load it is not ready then. After an error the process must end. */
MUST_CHECK enum error_code server_start(struct server *server, struct listeners *listeners,
                                        struct error *error);

/* Takes requests from now on. */
void server_ready(struct server *server);

/* Ends everything but the log. By then no request may be suspended, and no connection accepted. */
void server_end(struct server *server);

#endif
