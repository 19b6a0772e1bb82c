/* counters: what the follower did and where it is, written by its loop, read by /metrics. */
#ifndef SERVER_FOLLOW_COUNTERS_H
#define SERVER_FOLLOW_COUNTERS_H

#include "proto/text.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* name, kind, help */
#define COUNTERS_TABLE(X)                                                                          \
    X(applied_total, "counter", "Entries that the server applied")                                 \
    X(repeated_total, "counter", "Entries that it had applied before")                             \
    X(rejected_total, "counter", "Entries that are no request, or one that it refused with 4xx")   \
    X(retries_total, "counter", "Entries posted once more, after 429, 503, 504 or 507")            \
    X(went_back_total, "counter", "Times that the server had lost entries, which came again")      \
    X(redis_connects_total, "counter", "Connections to Redis")                                     \
    X(server_up, "gauge", "1 when the server answered last")                                       \
    X(redis_up, "gauge", "1 when Redis answered last")

struct counters {
#define X(NAME, KIND, HELP) _Atomic uint64_t NAME;
    COUNTERS_TABLE(X)
#undef X
    _Atomic uint64_t position_ms; /* of the last entry that is done with */
    _Atomic uint64_t abreast_ms;  /* all that was added by then is done with */
    _Atomic bool is_abreast;      /* it waits for the next entry */
};

/* Seconds since which there is an entry that is not done with; 0: there is none. */
double counters_lag(const struct counters *counters);

/* Both the server and Redis answer. */
bool counters_healthy(const struct counters *counters);

/* As Prometheus' text. */
void counters_print(const struct counters *counters, struct text *text);

#endif
