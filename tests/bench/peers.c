/* Servers beside each other: the same bytes to each in turn, so that the noise of the machine meets
 * all of them; medians in one table. tests/bench/peers/run.sh starts them.
 *
 *   peers NAME=PORT...     the first is compared with the best of the others */
#include "tests/bench/server_load.h"
#include "tests/bench/server_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEERS_MAX = 8, ROUNDS = 7, ANSWER_BYTES = 192 << 20 };

enum subject { SMALL_JSON, SMALL_BINARY, JSON, LARGE, SUBJECTS };

struct cell {
    const char *name;
    enum subject subject;
    int connections; /* 0: one request at a time, in milliseconds */
};

static const struct cell cells[] = {
    {"W1 JSON, 1 connection, requests/s", SMALL_JSON, 1},
    {"W1 JSON, 16 connections, requests/s", SMALL_JSON, 16},
    {"W1 binary, 1 connection, requests/s", SMALL_BINARY, 1},
    {"W1 binary, 16 connections, requests/s", SMALL_BINARY, 16},
    {"W2 1e6 FP32 as JSON both ways, ms", JSON, 0},
    {"W3 64 MiB and 1e5 updates, binary, ms", LARGE, 0},
};

enum { CELLS = sizeof(cells) / sizeof(cells[0]) };

struct peer {
    const char *name;
    int port;
    double median[CELLS]; /* 0: it fails */
};

static bool make_requests(struct wire_request *requests)
{
    size_t offset, size;

    return wire_small(&requests[SMALL_JSON], FORM_JSON) &&
           wire_small(&requests[SMALL_BINARY], FORM_BINARY) &&
           wire_json(&requests[JSON], &offset, &size) && wire_large(&requests[LARGE]);
}

/* Requests per second; 0: it fails. */
static double measure_rate(const struct peer *peer, int connections,
                           const struct wire_request *request)
{
    static const double SECONDS = 0.5;
    const struct load load = {
        .port = peer->port, .connections = connections, .requests = request, .request_count = 1};
    struct load_result result;

    return load_run(&load, SECONDS, &result) ? (double)result.answers / result.seconds : 0;
}

/* Milliseconds of the second of two requests on a connection; 0: it fails. */
static double measure_ms(const struct peer *peer, const struct wire_request *request)
{
    struct line line;
    double seconds = -1;

    if (line_open(&line, peer->port, ANSWER_BYTES) &&
        line_exchange(&line, request->bytes, request->size) > 0)
        seconds = line_exchange(&line, request->bytes, request->size);
    line_close(&line);
    return seconds > 0 ? seconds * 1000 : 0;
}

static double measure(const struct peer *peer, const struct cell *cell,
                      const struct wire_request *request)
{
    return cell->connections > 0 ? measure_rate(peer, cell->connections, request)
                                 : measure_ms(peer, request);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The first round warms up, and finds out who cannot do it. */
static void run_cell(struct peer *peers, int count, int c, const struct wire_request *requests)
{
    double values[PEERS_MAX][ROUNDS];

    for (int round = -1; round < ROUNDS; round++)
        for (int i = 0; i < count; i++) {
            double value;

            if (round >= 0 && peers[i].median[c] == 0)
                continue;
            value = measure(&peers[i], &cells[c], &requests[cells[c].subject]);
            if (round >= 0)
                values[i][round] = value;
            else
                peers[i].median[c] = value;
        }
    for (int i = 0; i < count; i++)
        if (peers[i].median[c] != 0) {
            qsort(values[i], ROUNDS, sizeof(values[i][0]), compare);
            peers[i].median[c] = values[i][ROUNDS / 2];
        }
}

/* How many times as fast as the best of the others the first is; 0: nobody else can. */
static double lead(const struct peer *peers, int count, int c)
{
    double best = 0;

    for (int i = 1; i < count; i++) {
        double value = peers[i].median[c];

        if (value != 0 && cells[c].connections == 0)
            value = 1 / value;
        best = value > best ? value : best;
    }
    if (best == 0)
        return 0;
    return (cells[c].connections == 0 ? 1 / peers[0].median[c] : peers[0].median[c]) / best;
}

static void print_head(const struct peer *peers, int count)
{
    printf("%-40s", "");
    for (int i = 0; i < count; i++)
        printf("%12s", peers[i].name);
    printf("%24s\n", "as fast as the next");
}

static void print_cell(const struct peer *peers, int count, int c)
{
    double times = lead(peers, count, c);

    printf("%-40s", cells[c].name);
    for (int i = 0; i < count; i++) {
        if (peers[i].median[c] == 0)
            printf("%12s", "fails");
        else
            printf("%12.*f", cells[c].connections > 0 ? 0 : 1, peers[i].median[c]);
    }
    if (times != 0)
        printf("%18.1f times\n", times);
    else
        printf("%24s\n", "-");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct wire_request requests[SUBJECTS] = {0};
    struct peer peers[PEERS_MAX] = {0};
    int count = argc - 1;

    if (count < 1 || count > PEERS_MAX || !make_requests(requests))
        return 2;
    for (int i = 0; i < count; i++) {
        char *equals = strchr(argv[i + 1], '=');

        if (equals == NULL)
            return 2;
        *equals = '\0';
        peers[i] = (struct peer){.name = argv[i + 1], .port = atoi(equals + 1)};
    }
    print_head(peers, count);
    for (int c = 0; c < CELLS; c++) {
        run_cell(peers, count, c, requests);
        print_cell(peers, count, c);
    }
    printf("medians of %d alternating rounds; W1: 8 FP32 elements, 4 updates, keep-alive\n",
           (int)ROUNDS);
    for (int i = 0; i < SUBJECTS; i++)
        wire_release(&requests[i]);
    return 0;
}
