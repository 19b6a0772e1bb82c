/* server_load: one thread that sends requests in turn, over and over, on connections that it keeps
 * alive, and counts and times the answers. The same for every server, so that ratios compare
 * servers.
 *
 * Closed (rate 0): a connection asks again as soon as it is answered. Open: requests are due at
 * fixed times, whatever the answers do, on any connection that is free. */
#ifndef TESTS_BENCH_SERVER_LOAD_H
#define TESTS_BENCH_SERVER_LOAD_H

#include "tests/bench/server_line.h"
#include "tests/bench/server_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct load {
    int port, connections;
    const struct wire_request *requests; /* sent in turn */
    int request_count;
    double rate;     /* requests that are due in a second; 0: closed */
    int span;        /* of span_ms; 0: none */
    bool tls;        /* with one connection only, closed */
    bool may_refuse; /* an answer 503 is counted, not an error */
};

struct load_result {
    int64_t answers; /* 200 */
    int64_t refused; /* 503 */
    double seconds;
    double asked;   /* requests a second, while requests were sent: below `rate` by as much as the
                     * load fell behind */
    double span_ms; /* 99th percentile of the time in which `span` answers 200 came in a row */
    double p99_ms;  /* of the time from when a request was due to its whole answer 200 */
};

/* Asks for `seconds`; of an open load every answer is waited for, of a closed one those that are
 * not there at the end count for nothing. False when a connection broke or an answer was neither
 * 200 nor a refusal that may be. */
bool load_run(const struct load *load, double seconds, struct load_result *result);

#endif
