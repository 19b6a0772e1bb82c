/* Heads without end: they are refused within the connection's memory. */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sends `start`, then `piece` until the server has had enough, then `end`. The status of the
 * answer, or 0 when the connection was closed without one. */
static int flood(struct fixture *f, const char *start, const char *piece, int times,
                 const char *end)
{
    struct raw r = fixture_raw(f);
    struct answer a;
    int status = 0;
    bool sent = raw_puts(&r, start);

    for (int i = 0; sent && i < times; i++)
        sent = raw_puts(&r, piece);
    if (sent)
        raw_puts(&r, end);
    if (raw_read(&r, &a, false))
        status = a.status;
    answer_release(&a);
    raw_close(&r);
    return status;
}

static void check(struct fixture *f, int status, int wanted)
{
    /* A flood that is refused while it is being sent may end in a reset instead of the answer. */
    if (status != 0)
        assert_int_equal(status, wanted);
    fixture_check_alive(f);
}

static void a_hundred_thousand_headers(void **state)
{
    check(*state, flood(*state, "GET /v2 HTTP/1.1\r\nHost: t\r\n", "X-A: b\r\n", 100000, "\r\n"),
          431);
}

static void one_header_of_a_megabyte(void **state)
{
    char piece[1025];

    memset(piece, 'a', sizeof(piece) - 1);
    piece[sizeof(piece) - 1] = '\0';
    check(*state, flood(*state, "GET /v2 HTTP/1.1\r\nHost: t\r\nX-A: ", piece, 1024, "\r\n\r\n"),
          431);
}

static void a_header_name_of_a_megabyte(void **state)
{
    char piece[1025];

    memset(piece, 'a', sizeof(piece) - 1);
    piece[sizeof(piece) - 1] = '\0';
    check(*state, flood(*state, "GET /v2 HTTP/1.1\r\nHost: t\r\n", piece, 1024, ": b\r\n\r\n"),
          431);
}

static void a_url_of_a_megabyte(void **state)
{
    char piece[1025];

    memset(piece, 'a', sizeof(piece) - 1);
    piece[sizeof(piece) - 1] = '\0';
    check(*state, flood(*state, "GET /v2/", piece, 1024, " HTTP/1.1\r\nHost: t\r\n\r\n"), 414);
}

static void a_method_without_end(void **state)
{
    char piece[1025];
    int status;

    memset(piece, 'A', sizeof(piece) - 1);
    piece[sizeof(piece) - 1] = '\0';
    status = flood(*state, piece, piece, 1024, " / HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_true(status == 0 || status >= 400);
    fixture_check_alive(*state);
}

static void blank_lines_in_front_of_a_request(void **state)
{
    int status = flood(*state, "", "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n", 10000,
                       "GET /v2 HTTP/1.1\r\nHost: t\r\n\r\n");

    assert_true(status == 0 || status == 200 || status >= 400);
    fixture_check_alive(*state);
}

static void bytes_that_are_no_http(void **state)
{
    static const char tls[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    static const char zeros[64] = {0};
    struct raw r = fixture_raw(*state);

    assert_true(raw_send(&r, tls, sizeof(tls) - 1));
    raw_finish(&r);
    raw_ended(&r);
    raw_close(&r);
    r = fixture_raw(*state);
    assert_true(raw_send(&r, zeros, sizeof(zeros)));
    raw_finish(&r);
    raw_ended(&r);
    raw_close(&r);
    fixture_check_alive(*state);
}

/* Every byte in turn inside a header's value and inside the path. */
static void every_byte_in_a_head(void **state)
{
    for (int c = 1; c < 256; c++) {
        char text[128];
        struct raw r = fixture_raw(*state);
        struct answer a;

        snprintf(text, sizeof(text),
                 "GET /v2/%c HTTP/1.1\r\nHost: t\r\nX-A: b%cc\r\nConnection: close\r\n\r\n", c, c);
        assert_true(raw_puts(&r, text));
        raw_finish(&r);
        if (raw_read(&r, &a, false))
            assert_true(a.status == 200 || a.status >= 400);
        answer_release(&a);
        raw_close(&r);
    }
    fixture_check_alive(*state);
}

static void values_of_our_headers_are_bounded(void **state)
{
    char id[4096];
    struct answer a;

    snprintf(id, sizeof(id), "X-Request-Id: %04000d", 0);
    a = fixture_call(*state, &(struct call){.path = "/v2", .headers = {id, NULL}});
    assert_int_equal(a.status, 200);
    assert_true(strlen(answer_header(&a, "X-Request-Id")) <= 128);
    answer_release(&a);
    snprintf(id, sizeof(id), "Accept: %04000d, application/problem+json", 0);
    a = fixture_call(*state, &(struct call){.path = "/nope", .headers = {id, NULL}});
    assert_int_equal(a.status, 404);
    expect_header(&a, "Content-Type", "application/problem+json");
    answer_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_thousand_headers),
        cmocka_unit_test(one_header_of_a_megabyte),
        cmocka_unit_test(a_header_name_of_a_megabyte),
        cmocka_unit_test(a_url_of_a_megabyte),
        cmocka_unit_test(a_method_without_end),
        cmocka_unit_test(blank_lines_in_front_of_a_request),
        cmocka_unit_test(bytes_that_are_no_http),
        cmocka_unit_test(every_byte_in_a_head),
        cmocka_unit_test(values_of_our_headers_are_bounded),
    };

    return cmocka_run_group_tests_name("heads", tests, fixture_start, fixture_stop);
}
