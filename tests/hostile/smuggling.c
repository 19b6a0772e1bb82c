/* Messages that two readers could take apart differently: each is refused, its connection is
 * closed, and what follows in the same bytes is never taken for a request. */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <string.h>

#define INFER  "POST /v2/models/scatter_nd/infer HTTP/1.1\r\n"
#define HOST   "Host: t\r\n"
#define HIDDEN "GET /v2/health/live HTTP/1.1\r\nHost: t\r\nX-Request-Id: hidden\r\n\r\n"

/* libmicrohttpd does not see at once that a client has shut its sending side: it closes at the
 * limit for idle connections. */
static int start(void **state)
{
    static const char *const settings[] = {"--idle_timeout=1s", NULL};

    return fixture_start_with(state, settings);
}

struct row {
    const char *name;
    const char *bytes;
    size_t size;
    int status;
    const char *code; /* NULL: libmicrohttpd itself refuses it, in HTML */
};

#define ROW(NAME, BYTES, STATUS, CODE)                                                             \
    {                                                                                              \
        NAME, BYTES, sizeof(BYTES) - 1, STATUS, CODE                                               \
    }

/* Whether nothing that came on the connection answers the request behind. */
static void expect_nothing_hidden(struct raw *r, const char *name)
{
    raw_finish(r);
    raw_ended(r);
    if (r->size > 0 && strstr(r->buffer, "hidden") != NULL)
        fail_msg("%s: the bytes behind were taken for a request: %s", name, r->buffer);
}

static void check(struct fixture *f, const struct row *row)
{
    struct raw r = fixture_raw(f);
    struct answer a;

    assert_true(raw_send(&r, row->bytes, row->size));
    if (!raw_read(&r, &a, false))
        fail_msg("%s: no answer", row->name);
    if (a.status != row->status)
        fail_msg("%s: status %d, expected %d: %s", row->name, a.status, row->status, a.body);
    if (row->code != NULL)
        expect_error(&a, row->status, row->code, "");
    answer_release(&a);
    expect_nothing_hidden(&r, row->name);
    raw_close(&r);
}

static void check_rows(struct fixture *f, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(f, &rows[i]);
    fixture_check_alive(f);
}

#define CHECK_ROWS(STATE, ROWS) check_rows(*(STATE), ROWS, sizeof(ROWS) / sizeof(ROWS[0]))

static void lengths_that_contradict_each_other(void **state)
{
    static const struct row rows[] = {
        ROW("two lengths", INFER HOST "Content-Length: 2\r\nContent-Length: 60\r\n\r\n{}" HIDDEN,
            400, "INVALID_HEADER"),
        ROW("the same length twice",
            INFER HOST "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("length and chunks",
            INFER HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN,
            400, "INVALID_HEADER"),
        ROW("chunks and length",
            INFER HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" HIDDEN,
            400, "INVALID_HEADER"),
        ROW("a list of lengths", INFER HOST "Content-Length: 2, 2\r\n\r\n{}" HIDDEN, 400, NULL),
        ROW("a blank before the colon", INFER HOST "Content-Length : 2\r\n\r\n{}" HIDDEN, 400,
            NULL),
        ROW("a tab before the colon", INFER HOST "Content-Length\t: 2\r\n\r\n{}" HIDDEN, 400, NULL),
    };

    CHECK_ROWS(state, rows);
}

static void lengths_that_are_no_number(void **state)
{
    static const struct row rows[] = {
        ROW("a sign", INFER HOST "Content-Length: +2\r\n\r\n{}" HIDDEN, 400, NULL),
        ROW("negative", INFER HOST "Content-Length: -2\r\n\r\n{}" HIDDEN, 400, NULL),
        ROW("hexadecimal", INFER HOST "Content-Length: 0x2\r\n\r\n{}" HIDDEN, 400, NULL),
        ROW("digits and more", INFER HOST "Content-Length: 2a\r\n\r\n{}" HIDDEN, 400, NULL),
        ROW("a fraction", INFER HOST "Content-Length: 2.0\r\n\r\n{}" HIDDEN, 400, NULL),
        ROW("empty", INFER HOST "Content-Length: \r\n\r\n{}" HIDDEN, 400, NULL),
        ROW("2^63", INFER HOST "Content-Length: 9223372036854775808\r\n\r\n{}" HIDDEN, 413,
            "PAYLOAD_TOO_LARGE"),
        ROW("2^64 - 1", INFER HOST "Content-Length: 18446744073709551615\r\n\r\n{}" HIDDEN, 413,
            NULL),
        ROW("2^64", INFER HOST "Content-Length: 18446744073709551616\r\n\r\n{}" HIDDEN, 413, NULL),
        ROW("2^64 + 2", INFER HOST "Content-Length: 18446744073709551618\r\n\r\n{}" HIDDEN, 413,
            NULL),
        ROW("2^63 - 1", INFER HOST "Content-Length: 9223372036854775807\r\n\r\n{}" HIDDEN, 413,
            "PAYLOAD_TOO_LARGE"),
    };

    CHECK_ROWS(state, rows);
}

static void transfer_codings_but_chunked(void **state)
{
    static const struct row rows[] = {
        ROW("gzip, chunked", INFER HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" HIDDEN,
            501, "NOT_SUPPORTED"),
        ROW("identity", INFER HOST "Transfer-Encoding: identity\r\n\r\n{}" HIDDEN, 501,
            "NOT_SUPPORTED"),
        ROW("chunked twice",
            INFER HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "0\r\n\r\n" HIDDEN,
            400, "INVALID_HEADER"),
        ROW("chunked, chunked",
            INFER HOST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" HIDDEN, 501,
            "NOT_SUPPORTED"),
        ROW("xchunked", INFER HOST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" HIDDEN, 501,
            "NOT_SUPPORTED"),
    };

    CHECK_ROWS(state, rows);
}

static void chunk_sizes_that_are_no_number(void **state)
{
    static const struct row rows[] = {
        ROW("a letter", INFER HOST "Transfer-Encoding: chunked\r\n\r\nz\r\n{}\r\n0\r\n\r\n" HIDDEN,
            400, NULL),
        ROW("a sign", INFER HOST "Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n" HIDDEN,
            400, NULL),
        ROW("hexadecimal twice",
            INFER HOST "Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n" HIDDEN, 400,
            NULL),
        ROW("2^64", INFER HOST "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n{}" HIDDEN,
            413, NULL),
        ROW("too much data",
            INFER HOST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}}}\r\n0\r\n\r\n" HIDDEN, 400,
            NULL),
    };

    CHECK_ROWS(state, rows);
}

static void hosts_and_urls(void **state)
{
    static const struct row rows[] = {
        ROW("no host", "GET /v2 HTTP/1.1\r\n\r\n" HIDDEN, 400, "INVALID_HEADER"),
        ROW("two hosts", "GET /v2 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("a blank in the URL", "GET /v2/health live HTTP/1.1\r\n" HOST "\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("an encoded blank", "GET /v2/health%20live HTTP/1.1\r\n" HOST "\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("an encoded control character",
            "GET /v2/health%0d%0alive HTTP/1.1\r\n" HOST "\r\n" HIDDEN, 400, "INVALID_HEADER"),
        ROW("two header lengths",
            INFER HOST "Inference-Header-Content-Length: 2\r\n"
                       "Inference-Header-Content-Length: 2\r\nContent-Length: 2\r\n"
                       "Connection: close\r\n\r\n{}" HIDDEN,
            400, "INVALID_HEADER"),
    };

    CHECK_ROWS(state, rows);
}

static void versions_of_http_but_1(void **state)
{
    static const struct row rows[] = {
        ROW("2.0", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" HIDDEN, 505, NULL),
        ROW("9.9", "GET /v2 HTTP/9.9\r\n" HOST "\r\n" HIDDEN, 505, NULL),
    };

    CHECK_ROWS(state, rows);
}

/* libmicrohttpd 0.9.75 glues a folded line onto the NAME of the header before it. Whatever it makes
 * of these, no request may hide behind. */
static void folded_lines(void **state)
{
    static const char *const requests[] = {
        INFER HOST "Content-Lengt: 2\r\n h\r\n\r\n",
        INFER HOST "X-Folded: a\r\n b\r\nContent-Length: 2\r\n\r\n{}",
        INFER HOST "Transfer-Encodin: chunked\r\n g\r\n\r\n0\r\n\r\n",
    };

    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        struct raw r = fixture_raw(*state);
        struct answer a;

        assert_true(raw_puts(&r, requests[i]));
        raw_finish(&r);
        if (raw_read(&r, &a, false))
            assert_true(a.status >= 400);
        answer_release(&a);
        raw_close(&r);
    }
    fixture_check_alive(*state);
}

/* libmicrohttpd 0.9 gives a URL as a string, which ends at a NUL that was sent as such: the request
 * is the one that its sender could have made without what follows, and no other hides behind. */
static void a_url_ends_at_a_nul(void **state)
{
    static const char request[] = "GET /v2\0/health/live HTTP/1.1\r\n" HOST "\r\n";
    struct raw r = fixture_raw(*state);
    struct answer a;

    assert_true(raw_send(&r, request, sizeof(request) - 1));
    raw_finish(&r);
    if (raw_read(&r, &a, false) && a.status != 400) {
        assert_int_equal(a.status, 200);
        assert_non_null(strstr(a.body, "\"extensions\""));
    }
    answer_release(&a);
    assert_true(raw_ended(&r));
    raw_close(&r);
}

static void nul_bytes(void **state)
{
    static const char in_value[] = INFER HOST "X-A: b\0c\r\nContent-Length: 2\r\n\r\n{}";
    static const char encoded[] = "GET /v2%00/../x HTTP/1.1\r\n" HOST "\r\n";
    static const char at_the_end[] = "GET /openapi.json%00 HTTP/1.1\r\n" HOST "\r\n";
    struct answer a = fixture_exchange(*state, in_value, sizeof(in_value) - 1);

    assert_int_equal(a.status, 400);
    answer_release(&a);
    a = fixture_exchange(*state, encoded, sizeof(encoded) - 1);
    expect_error(&a, 400, "INVALID_HEADER", "byte 3");
    answer_release(&a);
    a = fixture_exchange(*state, at_the_end, sizeof(at_the_end) - 1);
    expect_error(&a, 400, "INVALID_HEADER", "byte 13");
    answer_release(&a);
    fixture_check_alive(*state);
}

/* One body's end is the next request's beginning, never more and never less. */
static void a_lying_content_length_only_hurts_its_client(void **state)
{
    struct raw r = fixture_raw(*state);
    struct answer a;

    assert_true(raw_puts(&r, INFER HOST "Content-Length: 2\r\n\r\n{}}}}\r\n\r\n"));
    assert_true(raw_read(&r, &a, false));
    expect_error(&a, 400, "INVALID_FIELD", "");
    answer_release(&a);
    if (raw_read(&r, &a, false))
        assert_true(a.status == 400 || a.status == 505);
    answer_release(&a);
    raw_close(&r);

    r = fixture_raw(*state);
    assert_true(raw_puts(&r, INFER HOST "Content-Length: 1000\r\n\r\n{}"));
    raw_finish(&r);
    assert_true(raw_ended(&r));
    raw_close(&r);
    fixture_check_alive(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_that_contradict_each_other),
        cmocka_unit_test(lengths_that_are_no_number),
        cmocka_unit_test(transfer_codings_but_chunked),
        cmocka_unit_test(chunk_sizes_that_are_no_number),
        cmocka_unit_test(hosts_and_urls),
        cmocka_unit_test(versions_of_http_but_1),
        cmocka_unit_test(folded_lines),
        cmocka_unit_test(a_url_ends_at_a_nul),
        cmocka_unit_test(nul_bytes),
        cmocka_unit_test(a_lying_content_length_only_hurts_its_client),
    };

    return cmocka_run_group_tests_name("smuggling", tests, start, fixture_stop);
}
