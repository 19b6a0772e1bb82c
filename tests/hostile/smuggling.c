/* Messages that two readers could take apart differently: each is refused, its connection is
 * closed, and what follows in the same bytes is never taken for a request. */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <string.h>

#define INFER  "POST /v2/models/scatter_nd/infer HTTP/1.1\r\n"
#define HOST   "Host: t\r\n"
#define HIDDEN "GET /v2/health/live HTTP/1.1\r\nHost: t\r\nX-Request-Id: hidden\r\n\r\n"

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

/* One answer, the end, and nothing that answers the request behind. */
static void expect_nothing_hidden(struct raw *r, const char *name)
{
    raw_finish(r);
    if (!raw_ended(r))
        fail_msg("%s: the connection goes on: %.*s", name, (int)r->size, r->buffer);
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
    assert_null(strstr(a.body, "HTTP/1.1 ")); /* one head, not two */
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
        ROW("a list of lengths", INFER HOST "Content-Length: 2, 2\r\n\r\n{}" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("a blank before the colon", INFER HOST "Content-Length : 2\r\n\r\n{}" HIDDEN, 400,
            NULL),
        ROW("a tab before the colon", INFER HOST "Content-Length\t: 2\r\n\r\n{}" HIDDEN, 400, NULL),
    };

    CHECK_ROWS(state, rows);
}

static void lengths_that_are_no_number(void **state)
{
    static const struct row rows[] = {
        ROW("a sign", INFER HOST "Content-Length: +2\r\n\r\n{}" HIDDEN, 400, "INVALID_HEADER"),
        ROW("negative", INFER HOST "Content-Length: -2\r\n\r\n{}" HIDDEN, 400, "INVALID_HEADER"),
        ROW("hexadecimal", INFER HOST "Content-Length: 0x2\r\n\r\n{}" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("digits and more", INFER HOST "Content-Length: 2a\r\n\r\n{}" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("a fraction", INFER HOST "Content-Length: 2.0\r\n\r\n{}" HIDDEN, 400, "INVALID_HEADER"),
        ROW("a blank behind", INFER HOST "Content-Length: 2 \r\n\r\n{}" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("empty", INFER HOST "Content-Length: \r\n\r\n{}" HIDDEN, 400, "INVALID_HEADER"),
        ROW("2^63", INFER HOST "Content-Length: 9223372036854775808\r\n\r\n{}" HIDDEN, 413,
            "PAYLOAD_TOO_LARGE"),
        ROW("2^64 - 1", INFER HOST "Content-Length: 18446744073709551615\r\n\r\n{}" HIDDEN, 413,
            "PAYLOAD_TOO_LARGE"),
        ROW("2^64", INFER HOST "Content-Length: 18446744073709551616\r\n\r\n{}" HIDDEN, 413,
            "PAYLOAD_TOO_LARGE"),
        ROW("2^64 + 2", INFER HOST "Content-Length: 18446744073709551618\r\n\r\n{}" HIDDEN, 413,
            "PAYLOAD_TOO_LARGE"),
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
        ROW("a blank behind", /* libmicrohttpd 0.9 does not take it away (RFC 9110, 5.5) */
            INFER HOST "Transfer-Encoding: chunked \r\n\r\n0\r\n\r\n" HIDDEN, 501, "NOT_SUPPORTED"),
        ROW("in HTTP/1.0", /* RFC 9112, 6.1 */
            "POST /v2/models/scatter_nd/infer HTTP/1.0\r\nConnection: keep-alive\r\n"
            "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN,
            400, "INVALID_HEADER"),
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
        ROW("a blank in the host", "GET /v2 HTTP/1.1\r\nHost: a b\r\n\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("a user in the host", "GET /v2 HTTP/1.1\r\nHost: a@b\r\n\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("a path in the host", "GET /v2 HTTP/1.1\r\nHost: a/b\r\n\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("half an address", "GET /v2 HTTP/1.1\r\nHost: [::1\r\n\r\n" HIDDEN, 400,
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

/* RFC 9112, 5.2. libmicrohttpd 0.9 glues a folded line onto the NAME of the header before it. */
static void folded_lines(void **state)
{
    static const struct row rows[] = {
        ROW("a length", INFER HOST "Content-Length:\r\n 2\r\n\r\n{}" HIDDEN, 400, "INVALID_HEADER"),
        ROW("the name of a length", INFER HOST "Content-Lengt: 2\r\n h\r\n\r\n{}" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("the name of a coding",
            INFER HOST "Transfer-Encodin: chunked\r\n g\r\n\r\n0\r\n\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("by a tab", INFER HOST "X-A: a\r\n\tb\r\nContent-Length: 2\r\n\r\n{}" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("blanks only", INFER HOST "X-A: a\r\n \r\nContent-Length: 2\r\n\r\n{}" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("the first header", INFER " X-A: a\r\n" HOST "\r\n" HIDDEN, 400, NULL),
        ROW("the last header", INFER "Content-Length: 2\r\nHost: t\r\n x\r\n\r\n{}" HIDDEN, 400,
            "INVALID_HEADER"),
    };

    CHECK_ROWS(state, rows);
}

/* RFC 9112, 2.2: a reader in front that takes a bare LF or CR for something else must not find
 * another request than we do. */
static void lines_that_end_without_crlf(void **state)
{
    static const struct row rows[] = {
        ROW("the request line", "GET /v2 HTTP/1.1\n" HOST "\r\n" HIDDEN, 400, "INVALID_HEADER"),
        ROW("a header", "GET /v2 HTTP/1.1\r\nHost: t\nX-A: b\r\n\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("the last header", "GET /v2 HTTP/1.1\r\nHost: t\n\r\n" HIDDEN, 400, "INVALID_HEADER"),
        ROW("the empty line", "GET /v2 HTTP/1.1\r\nHost: t\r\n\n" HIDDEN, 400, "INVALID_HEADER"),
        ROW("all", "GET /v2 HTTP/1.1\nHost: t\n\n" HIDDEN, 400, "INVALID_HEADER"),
        ROW("a CR within a value", "GET /v2 HTTP/1.1\r\nHost: t\r\nX-A: b\rX-B: c\r\n\r\n" HIDDEN,
            400, "INVALID_HEADER"),
        ROW("a CR in front of CRLF", "GET /v2 HTTP/1.1\r\nHost: t\r\nX-A: b\r\r\n\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("two blanks in the request line", "GET  /v2 HTTP/1.1\r\n" HOST "\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
    };

    CHECK_ROWS(state, rows);
}

/* RFC 9110, 5.5. Without the NUL, or if the text ended at it, each of them would be answered with
 * 200. */
static void nul_bytes(void **state)
{
    static const struct row rows[] = {
        ROW("in a value", "GET /v2 HTTP/1.1\r\n" HOST "X-A: b\0c\r\n\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("behind a value", "GET /v2 HTTP/1.1\r\n" HOST "X-A: b\0\r\n\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("in front of a value", "GET /v2 HTTP/1.1\r\n" HOST "X-A: \0b\r\n\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("in a name", "GET /v2 HTTP/1.1\r\n" HOST "X-\0A: b\r\n\r\n" HIDDEN, 400, NULL),
        ROW("in front of a name", "GET /v2 HTTP/1.1\r\n" HOST "\0X-A: b\r\n\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("alone in a line", "GET /v2 HTTP/1.1\r\n" HOST "\0\r\n\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("in a coding", INFER HOST "Transfer-Encoding: chunked\0x\r\n\r\n0\r\n\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("in a length", INFER HOST "Content-Length: 2\00009\r\n\r\n{}" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("in the path", "GET /v2\0/health/live HTTP/1.1\r\n" HOST "\r\n" HIDDEN, 400,
            "INVALID_HEADER"),
        ROW("in the query", "GET /v2?a\0b HTTP/1.1\r\n" HOST "\r\n" HIDDEN, 400, "INVALID_HEADER"),
        ROW("in the method", "GE\0T /v2 HTTP/1.1\r\n" HOST "\r\n" HIDDEN, 400, "INVALID_HEADER"),
    };

    CHECK_ROWS(state, rows);
}

static void encoded_nul_bytes(void **state)
{
    static const char encoded[] = "GET /v2%00/../x HTTP/1.1\r\n" HOST "\r\n";
    static const char at_the_end[] = "GET /openapi.json%00 HTTP/1.1\r\n" HOST "\r\n";
    struct answer a = fixture_exchange(*state, encoded, sizeof(encoded) - 1);

    expect_error(&a, 400, "INVALID_HEADER", "byte 3");
    answer_release(&a);
    a = fixture_exchange(*state, at_the_end, sizeof(at_the_end) - 1);
    expect_error(&a, 400, "INVALID_HEADER", "byte 13");
    answer_release(&a);
    fixture_check_alive(*state);
}

/* Line ends and NULs of which libmicrohttpd 0.9 leaves no trace, so that they cannot be refused;
 * docker/OPERATING.md names them to whoever puts a proxy in front. A version that refuses them
 * makes this test needless. */
static void what_a_reader_in_front_must_refuse(void **state)
{
    static const char *const requests[] = {
        INFER HOST "Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n",
        INFER HOST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\n0\r\n\r\n",
        INFER HOST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\n\r\n",
        INFER HOST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\n",
        INFER HOST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\n\r\n",
    };
    static const char nul[] = "GET /v2 HTTP/1.1\r\n" HOST "X-A: b\0\nX-B: c\r\n\r\n";
    struct answer a;

    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        a = fixture_exchange(*state, requests[i], strlen(requests[i]));
        expect_error(&a, 400, "INVALID_FIELD", "no inputs"); /* the body is {} */
        answer_release(&a);
    }
    a = fixture_exchange(*state, nul, sizeof(nul) - 1); /* the NUL and a bare LF pass as well */
    assert_int_equal(a.status, 200);
    answer_release(&a);
}

/* The next request begins exactly where the body of one ends. */
static void a_lying_content_length_only_hurts_its_client(void **state)
{
    struct raw r = fixture_raw(*state);
    struct answer a;

    assert_true(raw_puts(&r, INFER HOST "Content-Length: 2\r\n\r\n{}}}}\r\n\r\n"));
    assert_true(raw_read(&r, &a, false));
    expect_error(&a, 400, "INVALID_FIELD", "");
    answer_release(&a);
    assert_true(raw_ended(&r)); /* "}}}" is no request line that could be answered */
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
        cmocka_unit_test(lines_that_end_without_crlf),
        cmocka_unit_test(nul_bytes),
        cmocka_unit_test(encoded_nul_bytes),
        cmocka_unit_test(what_a_reader_in_front_must_refuse),
        cmocka_unit_test(a_lying_content_length_only_hurts_its_client),
    };

    return cmocka_run_group_tests_name("smuggling", tests, fixture_start, fixture_stop);
}
