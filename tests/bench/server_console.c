/* What the console page costs: its size, its share of a core while it is open, and what small
 * requests beside five of them notice. A page is what it asks for: /metrics each second. */
#include "tests/bench/server_bench.h"
#include "tests/support/http/raw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char poll_request[] = "GET /metrics HTTP/1.1\r\nHost: t\r\n\r\n";

/* Bytes of the body of an answer 200. */
static size_t ask(struct raw *raw, const char *request)
{
    struct answer a;

    if (!raw_puts(raw, request) || !raw_read(raw, &a, false) || a.status != 200)
        bench_fail("the page or what it asks for is not there");
    size_t size = a.size;
    answer_release(&a);
    return size;
}

static void print_size(const struct server *server)
{
    struct raw raw;

    if (!raw_open(&raw, server->port))
        bench_fail("no connection");
    size_t plain = ask(&raw, "GET / HTTP/1.1\r\nHost: t\r\nAccept: text/html\r\n\r\n");
    size_t zipped = ask(&raw, "GET / HTTP/1.1\r\nHost: t\r\nAccept: text/html\r\n"
                              "Accept-Encoding: gzip\r\n\r\n");
    raw_close(&raw);
    printf("%-18s the page: %zu bytes of text (wanted: at most 60000), %zu gzipped (wanted: at "
           "most 20000)\n",
           "console", plain, zipped);
}

static void print_share(const struct server *server)
{
    enum { POLLS = 500 };
    struct raw raw;
    size_t size = 0;

    if (!raw_open(&raw, server->port))
        bench_fail("no connection");
    double before = bench_usage(server->pid).cpu_seconds;
    for (int i = 0; i < POLLS; i++)
        size = ask(&raw, poll_request);
    double each = (bench_usage(server->pid).cpu_seconds - before) / POLLS;
    raw_close(&raw);
    printf(
        "%-18s an open page: %.2f %% of a core (wanted: below 1): one poll of /metrics a second, "
        "%.2f ms and %zu KiB each, without a log line\n",
        "", each * 100, each * 1000, size >> 10);
}

/* A child that is five pages until it is killed: a poll every 200 ms, on five connections. */
static pid_t open_pages(const struct server *server)
{
    enum { PAGES = 5 };
    struct raw raw[PAGES];
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < PAGES; i++)
        if (!raw_open(&raw[i], server->port))
            _exit(1);
    for (int i = 0;; i++) {
        ask(&raw[i % PAGES], poll_request);
        nanosleep(&(struct timespec){.tv_nsec = 1000000000 / PAGES}, NULL);
    }
}

static double measure_p99(const struct server *server, const struct wire_request *request,
                          bool beside)
{
    const struct load load = {.port = server->port,
                              .connections = 16,
                              .requests = request,
                              .request_count = 1,
                              .rate = 2000};
    struct load_result result;
    pid_t pages = beside ? open_pages(server) : 0;

    if (!load_run(&load, 2, &result))
        bench_fail("a small request failed");
    if (beside) {
        if (waitpid(pages, NULL, WNOHANG) != 0)
            bench_fail("the pages broke");
        kill(pages, SIGKILL);
        waitpid(pages, NULL, 0);
    }
    return result.p99_ms;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print_p99(const struct server *server)
{
    enum { RUNS = 7 };
    struct wire_request request;
    double alone[RUNS], beside[RUNS];

    if (!wire_small(&request, FORM_JSON))
        bench_fail("no memory");
    measure_p99(server, &request, false);
    for (int i = 0; i < RUNS; i++) {
        alone[i] = measure_p99(server, &request, false);
        beside[i] = measure_p99(server, &request, true);
    }
    qsort(alone, RUNS, sizeof(alone[0]), compare);
    qsort(beside, RUNS, sizeof(beside[0]), compare);
    printf("%-18s beside five open pages: 99th percentile of small requests %.2f ms, without them "
           "%.2f ms, ratio %.2f (wanted: about 1); 2,000 requests/s; medians of %d alternating "
           "runs\n",
           "", beside[RUNS / 2], alone[RUNS / 2], beside[RUNS / 2] / alone[RUNS / 2], RUNS);
    wire_release(&request);
}

void bench_console(void)
{
    struct server server;

    if (!server_start(&server, NULL))
        bench_fail("tensord did not start");
    print_size(&server);
    print_share(&server);
    print_p99(&server);
    if (server_stop(&server) != 0)
        bench_fail("tensord did not end well");
}
