/* The server beside its limits. Each row is a ratio of two medians of alternating runs, so that the
 * noise of the machine meets both sides. `make bench`, or `make bench ROWS="large json-cjson"`.
 * The server runs in its default configuration with its log in a file.
 *
 * Nothing is asserted here: the numbers are printed with what they mean and what was wanted. */
#include "tests/bench/server_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS_MAX = 64 };

#define SMALL_IS "8 FP32 elements, 4 updates, keep-alive"
#define ECHO_IS  "those of bare libmicrohttpd echoing the same body inline"

static const struct row rows[] = {
    {"small-json", SMALL, FORM_JSON, 1, HTTP_ECHO, 51, true, 0.80,
     "requests/s, JSON, one connection (" SMALL_IS ") / " ECHO_IS},
    {"small-binary", SMALL, FORM_BINARY, 1, HTTP_ECHO, 51, true, 0.85,
     "requests/s, binary, one connection (" SMALL_IS ") / " ECHO_IS},
    {"small-safetensors", SMALL, FORM_SAFETENSORS, 1, HTTP_ECHO, 51, true, 0.85,
     "requests/s, safetensors, one connection (" SMALL_IS ") / " ECHO_IS},
    {"small-json-fresh", SMALL, FORM_FRESH, 1, HTTP_ECHO, 51, true, 0.80,
     "requests/s, JSON, one connection, an id and numbers of its own in every request (" SMALL_IS
     ") / " ECHO_IS},
    {"small-json-turns", SMALL, FORM_TURNS, 1, HTTP_ECHO, 51, true, 0.80,
     "requests/s, JSON, one connection, 32 requests of different shapes in turn (8 to 39 FP32 "
     "elements, 4 updates, keep-alive) / " ECHO_IS},
    {"small-json-16", SMALL, FORM_JSON, 16, HTTP_ECHO, 31, true, 0,
     "requests/s, JSON, 16 connections (" SMALL_IS ") / " ECHO_IS},
    {"small-json-fresh-16", SMALL, FORM_FRESH, 16, HTTP_ECHO, 31, true, 0,
     "the same as small-json-fresh on 16 connections"},
    {"small-json-turns-16", SMALL, FORM_TURNS, 16, HTTP_ECHO, 31, true, 0,
     "the same as small-json-turns on 16 connections"},
    {"small-binary-16", SMALL, FORM_BINARY, 16, HTTP_ECHO, 31, true, 0,
     "requests/s, binary, 16 connections (" SMALL_IS ") / " ECHO_IS},
    {"large", LARGE, FORM_BINARY, 1, RAW_ECHO, 21, false, 1.3,
     "seconds for 64 MiB FP32 and 100,000 updates in binary, 64 MiB back / those of a raw-socket "
     "echo of the same bytes (one blocking thread, recycled buffer, 256 KiB recv)"},
    {"json-cjson", JSON, FORM_JSON, 1, CJSON, 7, false, 0.25,
     "seconds for 1,000,000 FP32 as JSON in and out, 1,000 updates, over HTTP / those of cJSON "
     "parsing and printing the same JSON, in memory"},
    {"json-chars", JSON, FORM_JSON, 1, CHARS, 11, false, 1.0,
     "seconds for 1,000,000 FP32 as JSON in and out, 1,000 updates, over HTTP / those of one "
     "thread's std::from_chars and std::to_chars over the same text, in memory"},
    {"kept-update", UPDATE, FORM_BINARY, 1, RAW_ECHO, 51, false, 1.3,
     "seconds for 10,000 rows of 64 FP32 added to a kept table of 1,000,000 rows, in binary / "
     "those of a raw-socket echo of the same request"},
    {"kept-lookup", LOOKUP, FORM_BINARY, 1, RAW_ECHO, 51, false, 1.3,
     "seconds for 10,000 rows of 64 FP32 out of a kept table of 1,000,000 rows, in binary / "
     "those of a raw-socket echo of as many bytes as the answer has"},
    {"kept-lookup-16", SMALL, FORM_LOOKUP, 1, HTTP_ECHO, 51, true, 0.80,
     "requests/s, 16 rows of 64 FP32 out of the same table, one connection / those of bare "
     "libmicrohttpd echoing as many bytes"},
    {"kept-lookup-16-16", SMALL, FORM_LOOKUP, 16, HTTP_ECHO, 31, true, 0.80,
     "the same on 16 connections"},
    {"kept-names", SMALL, FORM_NAMES, 1, FIRST, 51, true, 0.95,
     "requests/s, 16 rows of 64 FP32 out of 1,000 kept tables of 100 rows in turn, one "
     "connection / those out of one of them"},
    {"kept-beside-writes", SMALL, FORM_LOOKUP, 4, ALONE, 5, false, 2,
     "99th percentile of the milliseconds of lookups of 16 rows on 4 connections beside a "
     "stream of updates of 10,000 rows of the same table / the same without that stream"},
    {"others-beside-writes", SMALL, FORM_NAMES, 4, ALONE, 5, false, 0,
     "the same of lookups out of other tables than the one that is written: no line is shared"},
    {"echo-beside-writes", SMALL, FORM_LOOKUP, 4, ECHO_ALONE, 5, false, 0,
     "the same of a bare libmicrohttpd that echoes as many bytes, on the same cores: no server is "
     "shared"},
    {"small-tls", SMALL, FORM_JSON, 1, PLAIN, 51, true, 0.6,
     "requests/s over TLS, JSON, one connection (" SMALL_IS ") / the same without TLS"},
    {"beside-large", SMALL, FORM_JSON, 100, ALONE, 5, false, 10,
     "99th percentile of the milliseconds of small requests on 100 connections beside a stream of "
     "64 MiB requests / the same without that stream"},
    {"log-1", SMALL, FORM_JSON, 1, QUIET, 51, true, 0.95,
     "requests/s, JSON, one connection (" SMALL_IS ") / those without a log (log_requests=false)"},
    {"log-64", SMALL, FORM_JSON, 64, QUIET, 31, true, 0.85,
     "requests/s, JSON, 64 connections (" SMALL_IS ") / those without a log (log_requests=false)"},
    {"overload", SMALL, FORM_BINARY, 512, BOUND, 5, false, 1,
     "99th percentile of the milliseconds from when an accepted request was due (48 KiB, 19 "
     "million additions; 5 times the capacity offered at fixed times; one worker, queue_jobs=256) "
     "/ the 99th percentile of what 257 answers in a row took in the same run: the queue is always "
     "full, so 1 is the least"},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(values[0]), compare);
    return values[count / 2];
}

static void print_memory(const struct bench *b, long faults)
{
    double peak = (double)server_memory_kb(&b->server, "VmHWM") / 1024;
    double size = (double)b->requests->size / (1 << 20);
    double each = (double)faults / b->row->runs;

    printf("%-18s peak RSS %.1f MiB, the request %.1f MiB: %.1f MiB above it, %.2f times it\n", "",
           peak, size, peak - size, peak / size);
    printf("%-18s minor page faults per request, once warm: %.0f (the request has %.0f pages)\n",
           "", each, size * 256);
}

static void print_row(const struct row *row, double ours, double theirs)
{
    static const char *const others[] = {[HTTP_ECHO] = "libmicrohttpd",
                                         [RAW_ECHO] = "raw sockets",
                                         [CJSON] = "cJSON",
                                         [CHARS] = "from_chars + to_chars",
                                         [PLAIN] = "plain",
                                         [ALONE] = "alone",
                                         [ECHO_ALONE] = "alone",
                                         [QUIET] = "without a log",
                                         [FIRST] = "one name",
                                         [BOUND] = "the queue"};
    bool rate = row->subject == SMALL && !bench_has_stream(row) && row->other != BOUND;
    int digits = rate ? 0 : row->subject == SMALL ? 2 : 1;
    double scale = row->subject == SMALL ? 1 : 1000;

    printf("%-18s %s %.*f %s, %s %.*f %s, ratio %.2f", row->name,
           row->other == ECHO_ALONE ? "libmicrohttpd" : "ours", digits, ours * scale,
           rate ? "/s" : "ms", others[row->other], digits, theirs * scale, rate ? "/s" : "ms",
           ours / theirs);
    if (row->wanted != 0)
        printf(" (wanted: at %s %.2f)", row->at_least ? "least" : "most", row->wanted);
    printf("\n%-18s   = %s; medians of %d alternating runs\n", "", row->definition, row->runs);
}

/* Prints CPU times, which the noise of a busy machine touches least. */
static void print_cpu(const struct bench *b, double ours, double theirs)
{
    double our_us = ours / (double)b->our_answers * 1e6;
    double their_us = theirs / (double)b->their_answers * 1e6;

    printf("%-18s CPU time per request: ours %.1f us, libmicrohttpd %.1f us, ratio %.2f\n", "",
           our_us, their_us, their_us / our_us);
}

/* Prints what was asked and accepted. A load that falls behind its times asks less. */
static void print_overload(const struct overload *o, int runs)
{
    printf("%-18s asked %.2f times the capacity of %.0f/s, accepted %.2f of it, refused %.0f %%\n",
           "", o->asked / o->capacity, o->capacity / runs, o->accepted / o->capacity,
           o->refused * 100 / runs);
}

static void run_row(const struct row *row)
{
    struct bench b;
    double ours[RUNS_MAX], theirs[RUNS_MAX];
    struct usage before, their_before = {0}, after;

    bench_open(&b, row);
    for (int i = 0; i < 2; i++) {
        bench_measure_ours(&b);
        bench_measure_theirs(&b);
    }
    b.our_answers = b.their_answers = 0;
    b.overload = (struct overload){0};
    before = bench_usage(b.server.pid);
    if (row->other == HTTP_ECHO)
        their_before = bench_usage(b.echo.pid);
    for (int i = 0; i < row->runs; i++) {
        ours[i] = bench_measure_ours(&b);
        theirs[i] = bench_measure_theirs(&b);
    }
    after = bench_usage(b.server.pid);
    print_row(row, median(ours, row->runs), median(theirs, row->runs));
    if (row->subject != SMALL)
        print_memory(&b, after.minor_faults - before.minor_faults);
    if (row->other == QUIET)
        printf("%-18s counting a request for /metrics, which is always done: %.0f ns\n", "",
               bench_counting_ns());
    if (row->other == HTTP_ECHO)
        print_cpu(&b, after.cpu_seconds - before.cpu_seconds,
                  bench_usage(b.echo.pid).cpu_seconds - their_before.cpu_seconds);
    if (row->other == BOUND)
        print_overload(&b.overload, row->runs);
    fflush(stdout);
    bench_close(&b);
}

static bool is_asked_for(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 1;
}

int main(int argc, char **argv)
{
    double load = 0;

    getloadavg(&load, 1);
    printf("%ld cores, load average before the first run %.1f\n", sysconf(_SC_NPROCESSORS_ONLN),
           load);
    for (int i = 0; i < ROWS; i++)
        if (is_asked_for(rows[i].name, argc, argv))
            run_row(&rows[i]);
    if (is_asked_for("start", argc, argv))
        bench_start(11);
    if (is_asked_for("idle-connection", argc, argv))
        bench_idle_connections();
    if (is_asked_for("console", argc, argv))
        bench_console();
    return 0;
}
