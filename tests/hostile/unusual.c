/* Requests that few clients send and that RFC 9110 and RFC 9112 give a meaning. */
#include "tests/support/http/gauge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIVE  "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n"
#define INFER "POST /v2/models/tensor_scatter_add/infer HTTP/1.1\r\nHost: t\r\n"
#define SUM   "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[1]],\"updates\":[5]}}" /* 57 bytes */

static int start(void **state)
{
    static const char *const settings[] = {"--min_body_rate=1K", "--rate_grace=1s",
                                           "--log_level=debug", NULL};

    return fixture_start_with(state, settings);
}

static struct answer ask(void **state, const char *text)
{
    return fixture_exchange(*state, text, strlen(text));
}

static void expect_status(void **state, const char *text, int status)
{
    struct answer a = ask(state, text);

    if (a.status != status)
        fail_msg("%d, expected %d: %s", a.status, status, text);
    answer_release(&a);
}

/* RFC 9110, 5.5: blanks around a value are no part of it. */
static void blanks_behind_values(void **state)
{
    struct answer a = ask(state, LIVE "X-Request-Id: mine \t\r\n"
                                      "traceparent: 00-0af7651916cd43dd8448eb211c80319c-"
                                      "b7ad6b7169203331-01 \r\n\r\n");

    expect_header(&a, "X-Request-Id", "mine");
    answer_release(&a);
    assert_true(server_says(&((struct fixture *)*state)->server,
                            "\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\"", 1));
    expect_status(state, INFER "Content-Encoding: identity \r\nContent-Length: 57\r\n\r\n" SUM,
                  200);
    expect_status(state, LIVE "Host: t \r\n\r\n", 400); /* the second one */
}

/* RFC 9110, 5.2 and 5.3: the lines of a list are one list. */
static void lists_in_several_lines(void **state)
{
    struct answer a = ask(state, INFER "Content-Encoding: identity\r\nContent-Encoding: br\r\n"
                                       "Content-Length: 57\r\n\r\n" SUM);

    expect_error(&a, 415, "UNSUPPORTED_ENCODING", "identity, br");
    answer_release(&a);
    a = ask(state, INFER "Accept: text/html\r\nAccept: application/vnd.safetensors\r\n"
                         "Content-Length: 57\r\n\r\n" SUM);
    assert_int_equal(a.status, 200);
    expect_header(&a, "Content-Type", "application/vnd.safetensors");
    answer_release(&a);
    a = ask(state, "GET /nope HTTP/1.1\r\nHost: t\r\nAccept: */*\r\n"
                   "Accept: application/problem+json\r\n\r\n");
    expect_header(&a, "Content-Type", "application/problem+json");
    answer_release(&a);
}

/* RFC 9110, 5.3: what is no list comes once. */
static void what_is_no_list_comes_once(void **state)
{
    static const char *const lines[] = {
        "Content-Type: application/json\r\nContent-Type: application/vnd.safetensors\r\n",
        "Origin: http://a\r\nOrigin: http://b\r\n",
        "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char text[512];
        struct answer a;

        snprintf(text, sizeof(text), INFER "%sContent-Length: 57\r\n\r\n" SUM, lines[i]);
        a = ask(state, text);
        expect_error(&a, 400, "INVALID_HEADER", "came 2 times");
        answer_release(&a);
    }
}

/* W3C Trace Context, 3.2: two traceparents are none; and so is an id that is said twice. */
static void a_trace_or_an_id_said_twice_is_none(void **state)
{
    struct fixture *f = *state;
    struct answer a = ask(state, LIVE "X-Request-Id: one\r\nX-Request-Id: two\r\n"
                                      "traceparent: 00-11111111111111111111111111111111-"
                                      "b7ad6b7169203331-01\r\n"
                                      "traceparent: 00-22222222222222222222222222222222-"
                                      "b7ad6b7169203331-01\r\n\r\n");
    char *log;

    assert_int_equal(a.status, 200);
    assert_int_equal(strlen(answer_header(&a, "X-Request-Id")), 36);
    assert_true(server_says(&f->server, answer_header(&a, "X-Request-Id"), 1));
    log = server_log(&f->server);
    assert_null(strstr(log, "11111111111111111111111111111111"));
    assert_null(strstr(log, "22222222222222222222222222222222"));
    free(log);
    answer_release(&a);
}

/* RFC 9110, 10.1.1: also with a blank behind, and in two lines, which libmicrohttpd 0.9 passes
 * over. */
static void who_expects_100_gets_it(void **state)
{
    static const char *const lines[] = {"Expect: 100-continue", "Expect: 100-continue ",
                                        "Expect: 100-Continue\t", "expect:100-continue",
                                        "Expect: 100-continue \r\nExpect: 100-continue"};

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct raw r = fixture_raw(*state);
        struct answer a;

        assert_true(raw_printf(&r, INFER "%s\r\nContent-Length: 57\r\n\r\n", lines[i]));
        assert_true(raw_read(&r, &a, false));
        assert_int_equal(a.status, 100);
        answer_release(&a);
        assert_true(raw_puts(&r, SUM));
        assert_true(raw_read(&r, &a, false));
        assert_int_equal(a.status, 200);
        answer_release(&a);
        raw_close(&r);
    }
}

/* RFC 9110, 10.1.1: a final answer, whatever comes behind in the same bytes. */
static void an_expectation_without_a_body_gets_a_final_answer(void **state)
{
    struct raw r = fixture_raw(*state);
    struct answer a;

    assert_true(raw_puts(&r, LIVE "Expect: 100-continue\r\n\r\n" LIVE "\r\n"));
    for (int finals = 0; finals < 2;) {
        assert_true(raw_read(&r, &a, false));
        assert_true(a.status == 200 || a.status == 100);
        finals += a.status == 200;
        answer_release(&a);
    }
    raw_close(&r);
}

/* RFC 9110, 9.1: 405 for what HTTP has and a path lacks, 501 for the rest. */
static void methods(void **state)
{
    struct answer a = ask(state, "BREW /v2 HTTP/1.1\r\nHost: t\r\n\r\n");

    expect_error(&a, 501, "NOT_SUPPORTED", "BREW");
    answer_release(&a);
    a = ask(state, "get /v2 HTTP/1.1\r\nHost: t\r\n\r\n");
    expect_error(&a, 501, "NOT_SUPPORTED", "get");
    answer_release(&a);
    a = ask(state, "DELETE /v2 HTTP/1.1\r\nHost: t\r\n\r\n");
    expect_error(&a, 405, "METHOD_NOT_ALLOWED", "DELETE");
    expect_header(&a, "Allow", "GET, HEAD, OPTIONS");
    answer_release(&a);
}

/* RFC 9112, 3.2: absolute-form, asterisk-form, and queries that nothing here reads. */
static void targets(void **state)
{
    struct answer a = ask(state, "OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n");

    assert_int_equal(a.status, 204);
    expect_header(&a, "Allow", "GET, HEAD, POST, OPTIONS");
    answer_release(&a);
    expect_status(state, "GET * HTTP/1.1\r\nHost: t\r\n\r\n", 404);
    expect_status(state, "GET http://t/v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n", 200);
    expect_status(state, "GET HTTPS://t:1/v2/health/live?x HTTP/1.1\r\nHost: t\r\n\r\n", 200);
    expect_status(state, "GET http://t HTTP/1.1\r\nHost: t\r\n\r\n", 200);
    expect_status(state, "GET /v2? HTTP/1.1\r\nHost: t\r\n\r\n", 200);
    expect_status(state, "GET /v2?a=%00&b=? HTTP/1.1\r\nHost: t\r\n\r\n", 200);
    expect_status(state, "GET /v2/health/live?a/b HTTP/1.1\r\nHost: t\r\n\r\n", 200);
}

/* What libmicrohttpd refuses before it asks us has a line in the log, too. */
static void refused_heads_are_logged(void **state)
{
    struct fixture *f = *state;

    expect_status(state, INFER "Content-Length: +5\r\n\r\n", 400);
    assert_true(server_says(&f->server, "Content-Length is '+5'", 1));
    expect_status(state, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
    assert_true(server_says(&f->server, "HTTP response code is 505", 1));
}

/* RFC 9110, 15.5.9: a body that does not come, such as a chunk that was promised. */
static void a_body_that_does_not_come_is_told_so(void **state)
{
    struct raw r = fixture_raw(*state);
    struct answer a;

    assert_true(raw_puts(&r, INFER "Transfer-Encoding: chunked\r\n\r\nfffffffffffffff1\r\n{}"));
    assert_true(raw_read(&r, &a, false));
    expect_error(&a, 408, "DEADLINE_EXCEEDED", "min_body_rate");
    answer_release(&a);
    raw_finish(&r);
    assert_true(raw_ended(&r));
    raw_close(&r);
}

/* libmicrohttpd 0.9 answers 500 to such a line by itself, without a call to the server. */
static void a_chunk_size_line_larger_than_the_memory_of_a_head(void **state)
{
    char *text = malloc(65536);
    size_t used = (size_t)sprintf(text, INFER "Transfer-Encoding: chunked\r\n\r\n2;");
    struct answer a;

    memset(text + used, 'x', 40000);
    a = fixture_exchange(*state, text, used + 40000);
    assert_int_equal(a.status, 500);
    answer_release(&a);
    free(text);
    fixture_check_alive(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_behind_values),
        cmocka_unit_test(lists_in_several_lines),
        cmocka_unit_test(what_is_no_list_comes_once),
        cmocka_unit_test(a_trace_or_an_id_said_twice_is_none),
        cmocka_unit_test(who_expects_100_gets_it),
        cmocka_unit_test(an_expectation_without_a_body_gets_a_final_answer),
        cmocka_unit_test(methods),
        cmocka_unit_test(targets),
        cmocka_unit_test(refused_heads_are_logged),
        cmocka_unit_test(a_body_that_does_not_come_is_told_so),
        cmocka_unit_test(a_chunk_size_line_larger_than_the_memory_of_a_head),
    };

    return cmocka_run_group_tests_name("unusual", tests, start, fixture_stop);
}
