/* Heads without end: they are refused within the connection's memory. */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sends `start`, then `piece` so many times, then `end`, unless the server has had enough before;
 * the status of its answer. */
static int flood(struct fixture *f, const char *start, const char *piece, int times,
                 const char *end)
{
    struct raw r = fixture_raw(f);
    struct answer a;
    bool sent = raw_puts(&r, start);
    int status;

    for (int i = 0; sent && i < times; i++)
        sent = raw_puts(&r, piece);
    if (sent)
        raw_puts(&r, end);
    assert_true(raw_read(&r, &a, false));
    status = a.status;
    answer_release(&a);
    raw_close(&r);
    return status;
}

static void check(struct fixture *f, int status, int wanted)
{
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

    memset(piece, 'A', sizeof(piece) - 1);
    piece[sizeof(piece) - 1] = '\0';
    check(*state, flood(*state, piece, piece, 1024, " / HTTP/1.1\r\nHost: t\r\n\r\n"), 414);
}

/* RFC 9112, 2.2: at least one blank line is to be ignored. All of them take memory of the head. */
static void blank_lines_in_front_of_a_request(void **state)
{
    static const char get[] = "GET /v2 HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";

    check(*state, flood(*state, "", "\r\n", 8, get), 200);
    check(*state, flood(*state, "", "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n", 10000, get), 414);
}

/* From nearly nothing to more than a connection may have, in headers, cookies and arguments: there
 * is no size at which there is no answer. */
static void heads_of_any_size_get_an_answer(void **state)
{
    static const struct {
        const char *start, *piece, *end;
        int most, step, status;
    } rows[] = {
        {"GET /v2?", "&", " HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n", 30000, 997, 0},
        {"GET /v2?", "a=b&", " HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n", 7500, 499, 0},
        {"GET /v2 HTTP/1.1\r\nHost: t\r\nConnection: close\r\nX: ", "a", "\r\n\r\n", 34000, 499,
         431},
        {"GET /v2 HTTP/1.1\r\nHost: t\r\nConnection: close\r\n", "X:a\r\n", "\r\n", 600, 5, 431},
        {"GET /v2 HTTP/1.1\r\nHost: t\r\nConnection: close\r\nCookie: ", "a=b;", "\r\n\r\n", 3000,
         13, 431},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int times = 0; times < rows[i].most; times += rows[i].step) {
            char text[64 << 10];
            size_t used = (size_t)sprintf(text, "%s", rows[i].start);
            struct answer a;

            for (int k = 0; k < times; k++)
                used += (size_t)sprintf(text + used, "%s", rows[i].piece);
            used += (size_t)sprintf(text + used, "%s", rows[i].end);
            a = fixture_exchange(*state, text, used);
            if (a.status != 200 && a.status != rows[i].status)
                fail_msg("%d times %s: %d", times, rows[i].piece, a.status);
            answer_release(&a);
        }
    fixture_check_alive(*state);
}

static void bytes_that_are_no_http(void **state)
{
    static const char tls[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    static const char zeros[64] = {0};
    struct raw r = fixture_raw(*state);

    assert_true(raw_send(&r, tls, sizeof(tls) - 1));
    raw_finish(&r);
    assert_true(raw_ended(&r));
    raw_close(&r);
    r = fixture_raw(*state);
    assert_true(raw_send(&r, zeros, sizeof(zeros)));
    raw_finish(&r);
    assert_true(raw_ended(&r));
    raw_close(&r);
    fixture_check_alive(*state);
}

static int status_of(int c)
{
    return c == '?' ? 200 : c <= ' ' || c == 0x7f ? 400 : 404;
}

/* Every byte in turn inside a header's value and inside the path. */
static void every_byte_in_a_head(void **state)
{
    for (int c = 1; c < 256; c++) {
        char text[128];
        struct answer a;
        int size = snprintf(text, sizeof(text),
                            "GET /v2/%c HTTP/1.1\r\nHost: t\r\nX-A: b%cc\r\n"
                            "Connection: close\r\n\r\n",
                            c, c);

        a = fixture_exchange(*state, text, (size_t)size);
        if (a.status != status_of(c))
            fail_msg("byte %d: %d", c, a.status);
        answer_release(&a);
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
        cmocka_unit_test(heads_of_any_size_get_an_answer),
        cmocka_unit_test(bytes_that_are_no_http),
        cmocka_unit_test(every_byte_in_a_head),
        cmocka_unit_test(values_of_our_headers_are_bounded),
    };

    return cmocka_run_group_tests_name("heads", tests, fixture_start, fixture_stop);
}
