/* What one client may hold of the memory, and who a client is behind proxies. */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A share is 16 MB; two uploads of 10 MB are too many for one client. */
#define UPLOAD   "10000000"
#define TOO_LONG "20000000"

static int start(void **state)
{
    static const char *const settings[] = {"--memory=64000000", "--client_share=25",
                                           "--trusted_proxies=127.0.0.1, 10.0.0.0/8", NULL};

    return fixture_start_with(state, settings);
}

static int start_without_proxies(void **state)
{
    static const char *const settings[] = {"--memory=64000000", "--client_share=25", NULL};

    return fixture_start_with(state, settings);
}

/* Announces an upload, as a proxy does for the clients of `forwarded` (lines of headers). */
static struct raw announce(struct fixture *f, const char *forwarded, const char *length)
{
    struct raw r = fixture_raw(f);

    assert_true(raw_printf(&r,
                           "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n%s"
                           "Content-Length: %s\r\nExpect: 100-continue\r\n\r\n",
                           forwarded, length));
    return r;
}

static void expect_admitted(struct raw *r)
{
    struct answer a;

    assert_true(raw_read(r, &a, false));
    assert_int_equal(a.status, 100);
    answer_release(&a);
}

static void expect_refused(struct raw *r, int status, const char *code)
{
    struct answer a;

    assert_true(raw_read(r, &a, false));
    expect_error(&a, status, code, "client_share");
    answer_release(&a);
    raw_close(r);
}

/* The upload that held the share is gone once a new one is admitted. */
static void expect_admitted_soon(struct fixture *f, const char *forwarded)
{
    for (int status = 0; status != 100;) {
        struct raw r = announce(f, forwarded, UPLOAD);
        struct answer a;

        assert_true(raw_read(&r, &a, false));
        status = a.status;
        assert_true(status == 100 || status == 503);
        answer_release(&a);
        raw_close(&r);
    }
}

static void one_client_holds_no_more_than_its_share(void **state)
{
    static const char one[] = "X-Forwarded-For: 203.0.113.1\r\n";
    struct raw first = announce(*state, one, UPLOAD), second, third;

    expect_admitted(&first);
    second = announce(*state, one, UPLOAD);
    expect_refused(&second, 503, "RESOURCE_EXHAUSTED");
    third = announce(*state, "X-Forwarded-For: 203.0.113.2\r\n", UPLOAD);
    expect_admitted(&third);
    raw_close(&third);
    raw_close(&first);
    expect_admitted_soon(*state, one);
}

static void more_than_a_share_is_413(void **state)
{
    struct raw r = announce(*state, "X-Forwarded-For: 203.0.113.3\r\n", TOO_LONG);

    expect_refused(&r, 413, "PAYLOAD_TOO_LARGE");
    fixture_check_alive(*state);
}

/* Whatever a client invents stands in front of what proxies append. */
static void inventing_addresses_gives_no_second_share(void **state)
{
    static const char *const lines[] = {
        "X-Forwarded-For: 198.51.100.7, 203.0.113.4\r\n",
        "X-Forwarded-For: 198.51.100.8\r\nX-Forwarded-For: 203.0.113.4\r\n",
        "X-Forwarded-For: 198.51.100.9, 203.0.113.4, 10.1.2.3\r\n",
        "x-forwarded-for: 203.0.113.4:5555\r\n",
    };
    struct raw first = announce(*state, "X-Forwarded-For: 203.0.113.4\r\n", UPLOAD);

    expect_admitted(&first);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct raw r = announce(*state, lines[i], UPLOAD);

        expect_refused(&r, 503, "RESOURCE_EXHAUSTED");
    }
    raw_close(&first);
}

static void a_network_of_version_6_is_one_client(void **state)
{
    struct raw first = announce(*state, "X-Forwarded-For: 2001:db8:1:2::1\r\n", UPLOAD), second;

    expect_admitted(&first);
    second = announce(*state, "X-Forwarded-For: 2001:db8:1:2:ffff::9\r\n", UPLOAD);
    expect_refused(&second, 503, "RESOURCE_EXHAUSTED");
    raw_close(&first);
}

static void the_log_has_the_client_and_the_proxy(void **state)
{
    struct fixture *f = *state;
    struct answer a = fixture_call(
        f, &(struct call){.path = "/v2", .headers = {"X-Forwarded-For: 203.0.113.77"}});

    answer_release(&a);
    assert_true(server_says(&f->server, "\"remote\":\"203.0.113.77\",\"proxy\":\"127.0.0.1\"", 1));
}

static void who_is_no_trusted_proxy_is_not_believed(void **state)
{
    struct fixture *f = *state;
    struct raw first = announce(f, "X-Forwarded-For: 203.0.113.5\r\n", UPLOAD), second;

    expect_admitted(&first);
    second = announce(f, "X-Forwarded-For: 203.0.113.6\r\n", UPLOAD);
    expect_refused(&second, 503, "RESOURCE_EXHAUSTED");
    raw_close(&first);
    assert_true(server_says(&f->server, "\"remote\":\"127.0.0.1\"", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_client_holds_no_more_than_its_share),
        cmocka_unit_test(more_than_a_share_is_413),
        cmocka_unit_test(inventing_addresses_gives_no_second_share),
        cmocka_unit_test(a_network_of_version_6_is_one_client),
        cmocka_unit_test(the_log_has_the_client_and_the_proxy),
    };
    const struct CMUnitTest alone[] = {
        cmocka_unit_test(who_is_no_trusted_proxy_is_not_believed),
    };

    return cmocka_run_group_tests_name("shares", tests, start, fixture_stop) +
           cmocka_run_group_tests_name("no proxies", alone, start_without_proxies, fixture_stop);
}
