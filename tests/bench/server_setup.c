#include "tests/bench/server_bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { RAW_BYTES = 128 << 20 };

_Noreturn void bench_fail(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static bool has_echo(const struct row *row)
{
    return bench_has_http_echo(row) || row->other == RAW_ECHO;
}

/* What fills a queue is more to compute than to send. */
static bool make_small(struct bench *b)
{
    return b->row->other == BOUND ? wire_busy(b->requests)
                                  : wire_small_all(b->requests, b->row->form);
}

static bool uses_table(const struct row *row)
{
    return row->form == FORM_LOOKUP || row->subject == UPDATE || row->subject == LOOKUP ||
           (row->form == FORM_NAMES && bench_has_stream(row));
}

/* The table is kept before anything is measured; the echo of a lookup sends as many bytes back. */
static void keep_table(struct bench *b)
{
    enum { LOOKUP_BYTES = 10000 * 64 * 4, SMALL_LOOKUP_BYTES = 16 * 64 * 4 + 256 };
    struct wire_request keep;
    struct line line;

    if (!wire_keep_table(&keep) || !line_open(&line, b->server.port, 4096) ||
        line_exchange(&line, keep.bytes, keep.size) <= 0)
        bench_fail("no table is kept");
    line_close(&line);
    wire_release(&keep);
    if (b->row->subject != UPDATE &&
        !wire_zeros(&b->echoed, b->row->subject == LOOKUP ? LOOKUP_BYTES : SMALL_LOOKUP_BYTES))
        bench_fail("no memory for a request");
}

static void keep_names(const struct bench *b)
{
    struct line line;
    bool works = line_open(&line, b->server.port, 4096);

    for (int i = 0; i < b->request_count && works; i++) {
        struct wire_request keep;

        works = wire_keep_name(&keep, i) && line_exchange(&line, keep.bytes, keep.size) > 0;
        wire_release(&keep);
    }
    line_close(&line);
    if (!works)
        bench_fail("no table is kept");
}

static void make_request(struct bench *b)
{
    static const char *const failure = "no memory for a request";

    b->request_count = b->row->other == BOUND ? 1 : wire_small_count(b->row->form);
    b->requests = calloc((size_t)b->request_count, sizeof(*b->requests));
    if (b->requests == NULL)
        bench_fail(failure);
    if (b->row->subject == SMALL && !make_small(b))
        bench_fail(failure);
    if (b->row->subject == LARGE && !wire_large(b->requests))
        bench_fail(failure);
    if (b->row->subject == JSON && !wire_json(b->requests, &b->array_offset, &b->array_size))
        bench_fail(failure);
    if (bench_has_stream(b->row) &&
        !(uses_table(b->row) ? wire_update(&b->beside) : wire_large(&b->beside)))
        bench_fail(failure);
    if (b->row->subject == UPDATE && !wire_update(b->requests))
        bench_fail(failure);
    if (b->row->subject == LOOKUP && !wire_lookup(b->requests, 10000))
        bench_fail(failure);
    if (uses_table(b->row))
        keep_table(b);
    if (b->row->form == FORM_NAMES)
        keep_names(b);
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

static bool start_server(struct bench *b)
{
    static const char *const quiet[] = {"--log_requests=false", NULL};
    char jobs[32];
    const char *const bounded[] = {"--workers=1", "--cores=1", jobs, NULL};

    snprintf(jobs, sizeof(jobs), "--queue_jobs=%d", BOUND_JOBS);
    switch (b->row->other) {
    case PLAIN:
        return start_with_tls(b);
    case BOUND:
        return server_start(&b->server, bounded);
    case QUIET:
        return server_start(&b->quiet, quiet) && server_start(&b->server, NULL);
    default:
        return server_start(&b->server, NULL);
    }
}

void bench_open(struct bench *b, const struct row *row)
{
    *b = (struct bench){.row = row};

    if (!start_server(b))
        bench_fail("tensord did not start");
    if (bench_has_http_echo(b->row) && !echo_start_http(&b->echo))
        bench_fail("the echo did not start");
    if (b->row->other == RAW_ECHO && !echo_start_raw(&b->echo, RAW_BYTES))
        bench_fail("the echo did not start");
    make_request(b);
    if (b->row->subject != SMALL && !line_open(&b->ours, b->server.port, ANSWER_BYTES))
        bench_fail("no connection");
    if (b->row->other == RAW_ECHO && !line_open(&b->theirs, b->echo.port, ANSWER_BYTES))
        bench_fail("no connection");
}

void bench_close(struct bench *b)
{
    if (b->row->subject != SMALL)
        line_close(&b->ours);
    if (b->row->other == RAW_ECHO)
        line_close(&b->theirs);
    if (has_echo(b->row))
        echo_stop(&b->echo);
    for (int i = 0; i < b->request_count; i++)
        wire_release(&b->requests[i]);
    free(b->requests);
    wire_release(&b->beside);
    wire_release(&b->echoed);
    if (server_stop(&b->server) != 0 || (b->row->other == QUIET && server_stop(&b->quiet) != 0))
        bench_fail("tensord did not end well");
    if (b->row->other == PLAIN)
        pki_close(&b->pki);
}
