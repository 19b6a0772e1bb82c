/* The server beside its limits. Each row is a ratio of two medians of alternating runs, so that the
 * noise of the machine meets both sides. `make bench`, or `make bench ROWS="large json-cjson"`.
 * The server runs in its default configuration with its log in a file.
 *
 * Nothing is asserted here: the numbers are printed with what they mean and what was wanted. */
#include "tests/bench/server_echo.h"
#include "tests/bench/server_load.h"
#include "tests/bench/server_request.h"
#include "tests/bench/server_text.h"

#include "tests/support/pki.h"
#include "tests/support/server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS_MAX = 64, ANSWER_BYTES = 192 << 20, RAW_BYTES = 128 << 20 };

enum subject { SMALL, LARGE, JSON };

/* What the same work is done by on the other side of the ratio. */
enum other {
    HTTP_ECHO, /* bare libmicrohttpd */
    RAW_ECHO,
    CJSON,
    CHARS,
    PLAIN, /* tensord itself, without TLS */
    ALONE  /* tensord itself, without the stream of large requests */
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

#define SMALL_IS "8 FP32 elements, 4 updates, keep-alive"
#define ECHO_IS  "those of bare libmicrohttpd echoing the same body inline"

static const struct row rows[] = {
    {"small-json", SMALL, FORM_JSON, 1, HTTP_ECHO, 51, true, 0.80,
     "requests/s, JSON, one connection (" SMALL_IS ") / " ECHO_IS},
    {"small-binary", SMALL, FORM_BINARY, 1, HTTP_ECHO, 51, true, 0.85,
     "requests/s, binary, one connection (" SMALL_IS ") / " ECHO_IS},
    {"small-safetensors", SMALL, FORM_SAFETENSORS, 1, HTTP_ECHO, 51, true, 0.85,
     "requests/s, safetensors, one connection (" SMALL_IS ") / " ECHO_IS},
    {"small-json-16", SMALL, FORM_JSON, 16, HTTP_ECHO, 31, true, 0,
     "requests/s, JSON, 16 connections (" SMALL_IS ") / " ECHO_IS},
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
    {"small-tls", SMALL, FORM_JSON, 1, PLAIN, 51, true, 0.6,
     "requests/s over TLS, JSON, one connection (" SMALL_IS ") / the same without TLS"},
    {"beside-large", SMALL, FORM_JSON, 100, ALONE, 5, false, 10,
     "99th percentile of the milliseconds of small requests on 100 connections beside a stream of "
     "64 MiB requests / the same without that stream"},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

struct bench {
    const struct row *row;
    struct server server;
    struct pki pki; /* of PLAIN's other side */
    struct echo echo;
    struct wire_request request, large; /* `large`: of the stream beside */
    size_t array_offset, array_size;    /* in a JSON request */
    struct line ours, theirs;
};

static double fail(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static bool has_echo(const struct row *row)
{
    return row->other == HTTP_ECHO || row->other == RAW_ECHO;
}

static void make_request(struct bench *b)
{
    static const char *const failure = "no memory for a request";

    if (b->row->subject == SMALL && !wire_small(&b->request, b->row->form))
        fail(failure);
    if (b->row->subject == LARGE && !wire_large(&b->request))
        fail(failure);
    if (b->row->subject == JSON && !wire_json(&b->request, &b->array_offset, &b->array_size))
        fail(failure);
    if (b->row->other == ALONE && !wire_large(&b->large))
        fail(failure);
}

/* With an address that speaks TLS beside the plain one. */
static bool start_with_tls(struct bench *b)
{
    char path[PKI_PATH_MAX], certificate[PKI_PATH_MAX + 16], key[PKI_PATH_MAX + 16];
    const char *settings[] = {"--listen=127.0.0.1:0,tls:127.0.0.1:0", certificate, key, NULL};
    struct identity *identity;

    if (!pki_open(&b->pki))
        return false;
    identity = pki_issue(&b->pki, "server", PKI_SERVER, NULL, 0, 24 * 60 * 60);
    if (identity == NULL)
        return false;
    identity_free(identity);
    snprintf(certificate, sizeof(certificate), "--tls_cert=%s",
             pki_path(&b->pki, "server.pem", path));
    snprintf(key, sizeof(key), "--tls_key=%s", pki_path(&b->pki, "server.key", path));
    return server_start(&b->server, settings);
}

static void open_bench(struct bench *b)
{
    bool with_tls = b->row->other == PLAIN;

    if (with_tls ? !start_with_tls(b) : !server_start(&b->server, NULL))
        fail("tensord did not start");
    if (b->row->other == HTTP_ECHO && !echo_start_http(&b->echo))
        fail("the echo did not start");
    if (b->row->other == RAW_ECHO && !echo_start_raw(&b->echo, RAW_BYTES))
        fail("the echo did not start");
    make_request(b);
    if (b->row->subject != SMALL && !line_open(&b->ours, b->server.port, ANSWER_BYTES))
        fail("no connection");
    if (b->row->other == RAW_ECHO && !line_open(&b->theirs, b->echo.port, ANSWER_BYTES))
        fail("no connection");
}

static void close_bench(struct bench *b)
{
    if (b->row->subject != SMALL)
        line_close(&b->ours);
    if (b->row->other == RAW_ECHO)
        line_close(&b->theirs);
    if (has_echo(b->row))
        echo_stop(&b->echo);
    wire_release(&b->request);
    wire_release(&b->large);
    if (server_stop(&b->server) != 0)
        fail("tensord did not end well");
    if (b->row->other == PLAIN)
        pki_close(&b->pki);
}

static struct load_result measure_load(const struct bench *b, int port, bool tls, double seconds)
{
    const struct load load = {port, b->row->connections, b->request.bytes, b->request.size, tls};
    struct load_result result;

    if (!load_run(&load, seconds, &result))
        fail("a small request failed");
    return result;
}

static double measure_rate(const struct bench *b, int port, bool tls)
{
    static const double SECONDS = 0.1;
    struct load_result result = measure_load(b, port, tls, SECONDS);

    return (double)result.answers / result.seconds;
}

/* A child that sends 64 MiB requests until it is killed. */
static pid_t start_stream(const struct bench *b)
{
    pid_t pid = fork();
    struct line line;

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (line_open(&line, b->server.port, ANSWER_BYTES))
        while (line_exchange(&line, b->large.bytes, b->large.size) > 0)
            ;
    _exit(1);
}

static double measure_p99(const struct bench *b, bool beside)
{
    static const double SECONDS = 2;
    pid_t stream = beside ? start_stream(b) : 0;
    double p99_ms = measure_load(b, b->server.port, false, SECONDS).p99_ms;

    if (beside) {
        if (stream < 0 || waitpid(stream, NULL, WNOHANG) != 0)
            fail("the stream of large requests broke");
        kill(stream, SIGKILL);
        waitpid(stream, NULL, 0);
    }
    return p99_ms;
}

static double measure_seconds(const struct bench *b, struct line *line)
{
    double seconds = line_exchange(line, b->request.bytes, b->request.size);

    return seconds > 0 ? seconds : fail("a large request failed");
}

static double measure_ours(struct bench *b)
{
    if (b->row->other == ALONE)
        return measure_p99(b, true);
    if (b->row->other == PLAIN)
        return measure_rate(b, server_port(&b->server, "tls:127.0.0.1:"), true);
    if (b->row->subject == SMALL)
        return measure_rate(b, b->server.port, false);
    return measure_seconds(b, &b->ours);
}

static double measure_theirs(struct bench *b)
{
    const struct wire_request *r = &b->request;

    switch (b->row->other) {
    case HTTP_ECHO:
        return measure_rate(b, b->echo.port, false);
    case RAW_ECHO:
        return measure_seconds(b, &b->theirs);
    case CJSON:
        return text_cjson_seconds(r->bytes + r->body_offset, r->size - r->body_offset);
    case CHARS:
        return text_chars_seconds(r->bytes + b->array_offset, b->array_size);
    case PLAIN:
        return measure_rate(b, b->server.port, false);
    case ALONE:
        break;
    }
    return measure_p99(b, false);
}

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

/* The server's minor page faults so far. */
static long minor_faults(const struct bench *b)
{
    char path[64], text[1024];
    long faults = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)b->server.pid);
    file = fopen(path, "r");
    if (file == NULL)
        return -1;
    if (fgets(text, sizeof(text), file) == NULL || strrchr(text, ')') == NULL ||
        sscanf(strrchr(text, ')'), ") %*c %*d %*d %*d %*d %*d %*u %ld", &faults) != 1)
        faults = -1;
    fclose(file);
    return faults;
}

static void print_memory(const struct bench *b, long faults)
{
    double peak = (double)server_memory_kb(&b->server, "VmHWM") / 1024;
    double size = (double)b->request.size / (1 << 20);
    double each = (double)faults / b->row->runs;

    printf("%-18s peak RSS %.1f MiB, the request %.1f MiB: %.1f MiB above it, %.2f times it\n", "",
           peak, size, peak - size, peak / size);
    printf("%-18s minor page faults per request, once warm: %.0f (the request has %.0f pages)\n",
           "", each, size * 256);
}

static void print_row(const struct row *row, double ours, double theirs)
{
    static const char *const others[] = {
        [HTTP_ECHO] = "libmicrohttpd",     [RAW_ECHO] = "raw sockets", [CJSON] = "cJSON",
        [CHARS] = "from_chars + to_chars", [PLAIN] = "plain",          [ALONE] = "alone"};
    bool rate = row->subject == SMALL && row->other != ALONE;
    double scale = row->subject == SMALL ? 1 : 1000;

    printf("%-18s ours %.*f %s, %s %.*f %s, ratio %.2f", row->name, rate ? 0 : 1, ours * scale,
           rate ? "/s" : "ms", others[row->other], rate ? 0 : 1, theirs * scale, rate ? "/s" : "ms",
           ours / theirs);
    if (row->wanted != 0)
        printf(" (wanted: at %s %.2f)", row->at_least ? "least" : "most", row->wanted);
    printf("\n%-18s   = %s; medians of %d alternating runs\n", "", row->definition, row->runs);
}

static void run_row(const struct row *row)
{
    struct bench b = {.row = row};
    double ours[RUNS_MAX], theirs[RUNS_MAX];
    long faults;

    open_bench(&b);
    for (int i = 0; i < 2; i++) {
        measure_ours(&b);
        measure_theirs(&b);
    }
    faults = minor_faults(&b);
    for (int i = 0; i < row->runs; i++) {
        ours[i] = measure_ours(&b);
        theirs[i] = measure_theirs(&b);
    }
    faults = minor_faults(&b) - faults;
    print_row(row, median(ours, row->runs), median(theirs, row->runs));
    if (row->subject != SMALL)
        print_memory(&b, faults);
    fflush(stdout);
    close_bench(&b);
}

static bool is_asked_for(const struct row *row, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], row->name) == 0)
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
        if (is_asked_for(&rows[i], argc, argv))
            run_row(&rows[i]);
    return 0;
}
