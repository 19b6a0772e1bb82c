#include "kernels/op.h"
#include "server/jobs/metrics.h"
#include "tests/bench/server_bench.h"
#include "tests/support/http/raw.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Every start after the first finds the files in the caches. */
void bench_start(int runs)
{
    static const double WANTED_MS = 300, WANTED_MIB = 12;
    double worst_ms = 0, best_ms = 1e9, most_mib = 0;

    for (int i = 0; i < runs; i++) {
        struct server server;
        int64_t start = now_ns();

        if (!server_start(&server, NULL))
            bench_fail("tensord did not start");
        double ms = (double)(now_ns() - start) / 1e6;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        double mib = (double)server_memory_kb(&server, "VmRSS") / 1024;

        worst_ms = ms > worst_ms ? ms : worst_ms;
        best_ms = ms < best_ms ? ms : best_ms;
        most_mib = mib > most_mib ? mib : most_mib;
        if (server_stop(&server) != 0)
            bench_fail("tensord did not end well");
    }
    printf("%-18s %.0f to %.0f ms from exec to ready, looked at every 5 ms (wanted: at most %.0f); "
           "RSS at idle %.1f MiB at most (wanted: below %.0f); %d starts\n",
           "start", best_ms, worst_ms, WANTED_MS, most_mib, WANTED_MIB, runs);
}

/* One that has had an answer and is kept alive. */
void bench_idle_connections(void)
{
    enum { CONNECTIONS = 4000 };
    static const char *const settings[] = {"--max_connections=5000", NULL};
    static const char request[] = "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n";
    static struct raw raw[CONNECTIONS];
    struct server server;

    if (!server_start(&server, settings))
        bench_fail("tensord did not start");
    double before = (double)server_memory_kb(&server, "VmRSS");
    for (int i = 0; i < CONNECTIONS; i++) {
        struct answer a;

        if (!raw_open(&raw[i], server.port) || !raw_puts(&raw[i], request) ||
            !raw_read(&raw[i], &a, false))
            bench_fail("no answer");
        answer_release(&a);
    }
    double each = ((double)server_memory_kb(&server, "VmRSS") - before) / CONNECTIONS;
    for (int i = 0; i < CONNECTIONS; i++)
        raw_close(&raw[i]);
    printf("%-18s %.1f KiB of RSS each, once it has had an answer (libmicrohttpd's memory for a "
           "connection is 32 KiB); %d connections\n",
           "idle-connection", each, CONNECTIONS);
    if (server_stop(&server) != 0)
        bench_fail("tensord did not end well");
}

double bench_counting_ns(void)
{
    enum { TIMES = 1000000 };
    struct metrics metrics;
    struct error error;
    struct op_name op;
    struct observation seen = {.code = ERROR_NONE, .bytes_in = 300, .bytes_out = 300};

    if (metrics_init(&metrics, 1, &error) != ERROR_NONE ||
        !op_find("tensor_scatter_add", strlen("tensor_scatter_add"), &op))
        bench_fail("no counters");
    seen.op = op.op;
    int64_t start = now_ns();
    for (int i = 0; i < TIMES; i++)
        metrics_observe(metrics.shards[0], &seen);
    double ns = (double)(now_ns() - start) / TIMES;
    metrics_release(&metrics);
    return ns;
}
