/* headers: what is refused before a byte of the body is read. */
#include "server/http/headers.h"
#include "server/http/host.h"

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

static void add(struct headers *headers, const char *name, const char *value)
{
    headers_add(headers, name, strlen(name), value, strlen(value));
}

static void check(const struct row *row, const char *version, const char *url)
{
    struct headers headers = {0};
    struct framing framing;
    bool sound;
    for (int i = 0; i < PAIRS && row->pairs[i][0]; i++)
        add(&headers, row->pairs[i][0], row->pairs[i][1]);
    const struct request_line line = {"GET", url, version};
    enum error_code code = headers_check(&headers, &line, &framing, &sound, &error);
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
        {{HOST, {"Expect", "100-Continue"}, {"Expect", "100-continue"}}, ERROR_NONE, true, 0},
        {{HOST, {"Expect", "100-continue, a-miracle"}}, ERROR_EXPECTATION_FAILED, true, 0},
        {{HOST, {"Expect", "a-miracle"}}, ERROR_EXPECTATION_FAILED, true, 0},
        {{HOST, {"Expect", ""}}, ERROR_EXPECTATION_FAILED, true, 0},
        {{HOST, {"Authorization", "a"}, {"Authorization", "b"}}, ERROR_INVALID_HEADER, true, 0},
        {{HOST, {"Content-Type", "a"}, {"Content-Type", "a"}}, ERROR_INVALID_HEADER, true, 0},
        {{{"Host", "a b"}}, ERROR_INVALID_HEADER, false, 0},
        {{HOST, {"Transfer-Encoding", "chunked "}}, ERROR_NOT_SUPPORTED, false, 0},
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

static void transfer_encoding_needs_http_1_1(void **state)
{
    static const struct row row = {
        {HOST, {"Transfer-Encoding", "chunked"}}, ERROR_INVALID_HEADER, false, 0};
    (void)state;
    check(&row, "HTTP/1.0", "/v2");
}

static void methods_that_http_lacks_are_not_implemented(void **state)
{
    static const struct {
        const char *method;
        enum error_code code;
    } rows[] = {
        {"GET", ERROR_NONE},           {"PATCH", ERROR_NONE},        {"CONNECT", ERROR_NONE},
        {"BREW", ERROR_NOT_SUPPORTED}, {"get", ERROR_NOT_SUPPORTED}, {"GETX", ERROR_NOT_SUPPORTED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct request_line line = {rows[i].method, "/v2", "HTTP/1.1"};
        struct headers headers = {0};
        struct framing framing;
        bool sound;
        add(&headers, "Host", "a");
        assert_int_equal(headers_check(&headers, &line, &framing, &sound, &error), rows[i].code);
        assert_true(sound);
    }
}

static void *get(struct memory *memory, size_t bytes)
{
    static char room[8192];
    static size_t used;
    (void)memory;
    used = used + bytes > sizeof room ? 0 : used;
    used += bytes;
    return bytes > sizeof room ? NULL : room + used - bytes;
}

static struct memory memory = {get};

static void lines_become_one_value_by_the_header(void **state)
{
    struct headers headers = {.memory = &memory};
    (void)state;
    add(&headers, "accept", "a;q=1");
    add(&headers, "ACCEPT", "b \t");
    add(&headers, "Accept", "");
    assert_string_equal(headers.value[HEADER_ACCEPT], "a;q=1, b, ");
    assert_int_equal(headers.count[HEADER_ACCEPT], 3);
    add(&headers, "traceparent", "x");
    assert_string_equal(headers.value[HEADER_TRACEPARENT], "x");
    add(&headers, "traceparent", "x");
    assert_string_equal(headers.value[HEADER_TRACEPARENT], "");
    add(&headers, "X-Other", "x");
    add(&headers, "Origin", "");
    assert_string_equal(headers.value[HEADER_ORIGIN], "");
    assert_null(headers.value[HEADER_EXPECT]);
    assert_null(headers.fault);
    for (int i = 0; i < 300; i++)
        add(&headers, "Host", i ? "second" : "first");
    assert_string_equal(headers.value[HEADER_HOST], "first");
    assert_int_equal(headers.count[HEADER_HOST], 255);
}

static void blanks_behind_a_value_are_no_part_of_it(void **state)
{
    struct headers headers = {.memory = &memory};
    (void)state;
    add(&headers, "Authorization", "Bearer x \t ");
    add(&headers, "Expect", "100-continue ");
    add(&headers, "Accept", " \t");
    assert_string_equal(headers.value[HEADER_AUTHORIZATION], "Bearer x");
    assert_string_equal(headers.value[HEADER_EXPECT], "100-continue");
    assert_string_equal(headers.value[HEADER_ACCEPT], "");
    add(&headers, "Transfer-Encoding", "chunked ");
    assert_string_equal(headers.value[HEADER_TRANSFER_ENCODING], "chunked ");
}

static void names_are_tokens_and_values_lines(void **state)
{
    static const char *const bad[][2] = {{"", "x"},     {"a b", "x"},       {"a\t", "x"},
                                         {"a(b)", "x"}, {"\xc3", "x"},      {"a:b", "x"},
                                         {"a", "\r"},   {"a", "x\rHost: b"}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct headers headers = {0};
        add(&headers, bad[i][0], bad[i][1]);
        assert_non_null(headers.fault);
    }
    struct headers headers = {0};
    add(&headers, "!#$%&'*+-.^_`|~09azAZ", "\x01\x80\t x");
    assert_null(headers.fault);
}

static void hosts_are_names_or_addresses(void **state)
{
    static const char *const good[] = {
        "",           "a",        "a:80",  "a:",       "[::1]",           "[::1]:443",
        "127.0.0.1:", "a_b.c-d~", "%41:1", "[v1.a:b]", "[::ffff:1.2.3.4]"};
    static const char *const bad[] = {
        "a b", "a@b", "a/b", "[::1",  "[::1]x", "[]",   "a:x",   "a:1:2",    "::1",     "[1]",
        "%4",  "a?",  "a#",  "[v.a]", "[v1.]",  "a\\b", "a,b c", "\xc3\xa4", "[::1%lo]"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!host_is_valid(good[i]))
            fail_msg("'%s' is a host", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (host_is_valid(bad[i]))
            fail_msg("'%s' is no host", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_decide),
        cmocka_unit_test(old_clients_need_no_host),
        cmocka_unit_test(urls_hold_no_blanks_or_control_characters),
        cmocka_unit_test(transfer_encoding_needs_http_1_1),
        cmocka_unit_test(methods_that_http_lacks_are_not_implemented),
        cmocka_unit_test(lines_become_one_value_by_the_header),
        cmocka_unit_test(blanks_behind_a_value_are_no_part_of_it),
        cmocka_unit_test(names_are_tokens_and_values_lines),
        cmocka_unit_test(hosts_are_names_or_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
