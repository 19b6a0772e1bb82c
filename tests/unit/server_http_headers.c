/* http_headers: what is refused before a byte of the body is read. */
#include "server/http/headers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { PAIRS = 4 };

struct row {
    const char *pairs[PAIRS][2];
    enum error_code code;
    bool sound;
    int64_t length;
};

static struct error error;

static void check(const struct row *row, const char *version, const char *url)
{
    struct headers headers = {0};
    struct framing framing;
    bool sound;
    for (int i = 0; i < PAIRS && row->pairs[i][0]; i++)
        headers_add(&headers, row->pairs[i][0], row->pairs[i][1]);
    enum error_code code = headers_check(&headers, version, url, &framing, &sound, &error);
    if (code != row->code)
        fail_msg("%s: %s: got %s, expected %s", row->pairs[1][0], row->pairs[1][1],
                 error_name(code), error_name(row->code));
    assert_int_equal(sound, row->sound);
    if (sound)
        assert_int_equal(framing.length, row->length);
}

#define HOST                                                                                       \
    {                                                                                              \
        "Host", "a"                                                                                \
    }

static void headers_decide(void **state)
{
    static const struct row rows[] = {
        {{HOST}, ERROR_NONE, true, 0},
        {{HOST, {"Content-Length", "0"}}, ERROR_NONE, true, 0},
        {{HOST, {"content-length", "123"}}, ERROR_NONE, true, 123},
        {{HOST, {"Content-Length", "9223372036854775807"}}, ERROR_NONE, true, INT64_MAX},
        {{HOST, {"Content-Length", "9223372036854775808"}}, ERROR_PAYLOAD_TOO_LARGE, false, 0},
        {{HOST, {"Content-Length", ""}}, ERROR_INVALID_HEADER, false, 0},
        {{HOST, {"Content-Length", "+5"}}, ERROR_INVALID_HEADER, false, 0},
        {{HOST, {"Content-Length", "-5"}}, ERROR_INVALID_HEADER, false, 0},
        {{HOST, {"Content-Length", "5 "}}, ERROR_INVALID_HEADER, false, 0},
        {{HOST, {"Content-Length", "0x5"}}, ERROR_INVALID_HEADER, false, 0},
        {{HOST, {"Content-Length", "5,5"}}, ERROR_INVALID_HEADER, false, 0},
        {{HOST, {"Content-Length", "5"}, {"Content-Length", "5"}}, ERROR_INVALID_HEADER, false, 0},
        {{HOST, {"Transfer-Encoding", "chunked"}}, ERROR_NONE, true, -1},
        {{HOST, {"Transfer-Encoding", "Chunked"}}, ERROR_NONE, true, -1},
        {{HOST, {"Transfer-Encoding", "gzip, chunked"}}, ERROR_NOT_SUPPORTED, false, 0},
        {{HOST, {"Transfer-Encoding", "identity"}}, ERROR_NOT_SUPPORTED, false, 0},
        {{HOST, {"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}},
         ERROR_INVALID_HEADER,
         false,
         0},
        {{HOST, {"Transfer-Encoding", "chunked"}, {"Content-Length", "5"}},
         ERROR_INVALID_HEADER,
         false,
         0},
        {{HOST, {"Content-Length ", "5"}}, ERROR_INVALID_HEADER, false, 0},
        {{HOST, {"Expect", "100-continue"}}, ERROR_NONE, true, 0},
        {{HOST, {"Expect", "a-miracle"}}, ERROR_EXPECTATION_FAILED, true, 0},
        {{HOST, HOST}, ERROR_INVALID_HEADER, false, 0},
        {{{"Accept", "a"}, {"Content-Length", "7"}}, ERROR_INVALID_HEADER, false, 7},
        {{HOST, {"Inference-Header-Content-Length", "5"}, {"inference-header-content-length", "5"}},
         ERROR_INVALID_HEADER,
         true,
         0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i], "HTTP/1.1", "/v2");
}

static void old_clients_need_no_host(void **state)
{
    static const struct row row = {{{"Accept", "a"}}, ERROR_NONE, true, 0};
    (void)state;
    check(&row, "HTTP/1.0", "/v2");
}

static void urls_hold_no_blanks_or_control_characters(void **state)
{
    static const char *const urls[] = {"/v2 ", "/v 2", "/v2\r", "/v2\x7f", "/v2\x01"};
    static const struct row row = {{HOST}, ERROR_INVALID_HEADER, false, 0};
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        check(&row, "HTTP/1.1", urls[i]);
}

static void the_first_value_is_kept_and_all_are_counted(void **state)
{
    struct headers headers = {0};
    (void)state;
    for (int i = 0; i < 300; i++)
        headers_add(&headers, "ACCEPT", i ? "second" : "first");
    headers_add(&headers, "X-Other", "x");
    headers_add(&headers, "Origin", NULL);
    assert_string_equal(headers.value[HEADER_ACCEPT], "first");
    assert_int_equal(headers.count[HEADER_ACCEPT], 255);
    assert_string_equal(headers.value[HEADER_ORIGIN], "");
    assert_null(headers.value[HEADER_EXPECT]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_decide),
        cmocka_unit_test(old_clients_need_no_host),
        cmocka_unit_test(urls_hold_no_blanks_or_control_characters),
        cmocka_unit_test(the_first_value_is_kept_and_all_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
