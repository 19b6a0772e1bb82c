/* server_bench: one row of the benchmark: what is measured, what it is measured against, and both
 * sides running. */
#ifndef TESTS_BENCH_SERVER_BENCH_H
#define TESTS_BENCH_SERVER_BENCH_H

#include "tests/bench/server_echo.h"
#include "tests/bench/server_load.h"
#include "tests/bench/server_request.h"
#include "tests/support/http/pki.h"
#include "tests/support/http/server.h"

#include <stdbool.h>
#include <stdint.h>

/* Room for the largest answer. */
enum { ANSWER_BYTES = 192 << 20 };

/* Of BOUND's server, which has one worker. */
enum { BOUND_JOBS = 256 };

enum subject { SMALL, LARGE, JSON, UPDATE, LOOKUP };

/* What the same work is done by on the other side of the ratio. */
enum other {
    HTTP_ECHO, /* bare libmicrohttpd */
    RAW_ECHO,
    CJSON,
    CHARS,
    PLAIN,      /* tensord itself, without TLS */
    ALONE,      /* tensord itself, without the stream of other requests */
    ECHO_ALONE, /* bare libmicrohttpd without that stream; it is also what is measured beside it */
    QUIET,      /* tensord itself, without a log */
    FIRST,      /* tensord itself, sent the first request only */
    BOUND       /* what the queue of the same run can hold */
};

struct row {
    const char *name;
    enum subject subject;
    enum form form;  /* of SMALL */
    int connections; /* of SMALL */
    enum other other;
    int runs; /* of each side */
    bool at_least;
    double wanted; /* of the ratio; 0: nothing was asked for */
    const char *definition;
};

/* Sums over the runs of BOUND. */
struct overload {
    double capacity, asked, accepted; /* requests a second */
    double refused;                   /* of those asked */
};

struct bench {
    const struct row *row;
    struct server server, quiet;
    struct pki pki; /* of PLAIN's other side */
    struct echo echo;
    struct wire_request *requests; /* sent in turn */
    int request_count;
    struct wire_request beside;      /* of the stream beside */
    struct wire_request echoed;      /* what the echo is sent, where that is not `requests` */
    size_t array_offset, array_size; /* in a JSON request */
    struct line ours, theirs;
    double bound_ms; /* of BOUND's last run */
    struct overload overload;
    int64_t our_answers, their_answers; /* to small requests, so far */
};

static inline bool bench_has_stream(const struct row *row)
{
    return row->other == ALONE || row->other == ECHO_ALONE;
}

static inline bool bench_has_http_echo(const struct row *row)
{
    return row->other == HTTP_ECHO || row->other == ECHO_ALONE;
}

/* Ends the program: a benchmark that cannot run has nothing to say. */
_Noreturn void bench_fail(const char *what);

/* Starts both sides of the row and makes its request; bench_close stops them. */
void bench_open(struct bench *b, const struct row *row);
void bench_close(struct bench *b);

/* One run of a side: requests a second, milliseconds of the 99th percentile, or seconds. */
double bench_measure_ours(struct bench *b);
double bench_measure_theirs(struct bench *b);

/* Starts tensord `runs` times and prints how long it took and what it takes. */
void bench_start(int runs);

/* What an idle connection costs. */
void bench_idle_connections(void);

/* What the console page costs. */
void bench_console(void);

/* Nanoseconds that counting one request takes, which cannot be switched off. */
double bench_counting_ns(void);

/* What a process has used so far. */
struct usage {
    long minor_faults;
    double cpu_seconds;
};

struct usage bench_usage(pid_t pid);

#endif
