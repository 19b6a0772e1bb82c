/* server_load: one thread that sends the same request over and over on connections that it keeps
 * alive, and counts and times the answers. The same for every server, so that ratios compare
 * servers. */
#ifndef TESTS_BENCH_SERVER_LOAD_H
#define TESTS_BENCH_SERVER_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct load {
    int port, connections;
    const char *request; /* head and body */
    size_t size;
    bool tls;        /* with one connection only */
    bool may_refuse; /* an answer 503 is counted, not an error */
};

struct load_result {
    int64_t answers; /* 200 */
    int64_t refused; /* 503 */
    double seconds;
    double p99_ms; /* of the time from a request to its whole answer 200 */
};

int64_t now_ns(void);

/* For `seconds`, one request in flight on each connection. False when a connection broke or an
 * answer was neither 200 nor a refusal that may be. */
bool load_run(const struct load *load, double seconds, struct load_result *result);

/* One connection for requests that are too large to be kept in socket buffers. */
struct line {
    int fd;
    char *answer; /* touched before the first request, reused */
    size_t capacity, answer_size;
};

bool line_open(struct line *line, int port, size_t capacity);
void line_close(struct line *line);

/* Sends a request and reads its answer, which must be 200. The seconds that it took, or -1. */
double line_exchange(struct line *line, const char *request, size_t size);

#endif
