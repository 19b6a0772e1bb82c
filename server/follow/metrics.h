/* metrics: GET /metrics, and /health, which is 200 while both the server and Redis answer, else
 * 503. A thread of libmicrohttpd's serves them. */
#ifndef SERVER_FOLLOW_METRICS_H
#define SERVER_FOLLOW_METRICS_H

#include "kernels/error.h"
#include "server/follow/counters.h"

struct MHD_Daemon;

struct metrics_listener {
    struct MHD_Daemon *daemon; /* NULL: none */
    char address[80];          /* where it listens, with its port */
};

/* `listen` is address:port, numeric; empty: nothing is started. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code metrics_start(struct metrics_listener *listener, const char *listen,
                                         const struct counters *counters, struct error *error);
void metrics_stop(struct metrics_listener *listener);

#endif
