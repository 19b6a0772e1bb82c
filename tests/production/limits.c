/* Limits of connections and descriptors: who comes too many is told, and all recovers. */
#include "tests/support/http/gauge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST = 20 };

static int start(void **state)
{
    static const char *const settings[] = {"--max_connections=20", "--connection_max_requests=5",
                                           NULL};
    return fixture_start_with(state, settings);
}

static void ask_live(struct raw *r, struct answer *a)
{
    assert_true(raw_puts(r, "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n"));
    assert_true(raw_read(r, a, false));
    assert_int_equal(a->status, 200);
}

static void a_connection_too_many_gets_503(void **state)
{
    struct raw raw[MOST], one;
    struct answer a;
    for (int i = 0; i < MOST; i++) {
        raw[i] = fixture_raw(*state);
        ask_live(&raw[i], &a);
        answer_release(&a);
    }
    one = fixture_raw(*state);
    assert_true(raw_puts(&one, "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n"));
    assert_true(raw_read(&one, &a, false));
    expect_error(&a, 503, "RESOURCE_EXHAUSTED", "max_connections is 20");
    expect_header(&a, "Retry-After", "1");
    answer_release(&a);
    assert_true(raw_ended(&one));
    raw_close(&one);
    for (int i = 0; i < MOST; i++)
        raw_close(&raw[i]);
    /* The fixture's own client keeps trying until the others' ends have been seen. */
    for (int tries = 0; tries < 3000; tries++) {
        a = fixture_call(*state, &(struct call){.path = "/v2/health/live"});
        int status = a.status;
        answer_release(&a);
        if (status == 200)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    gauge_settle(*state, "tensord_open_connections", 1);
    assert_true(gauge(*state, "tensord_connections_refused_total") >= 1);
}

static void a_connection_ends_after_its_requests(void **state)
{
    struct raw r = fixture_raw(*state);
    for (int i = 1; i <= 5; i++) {
        struct answer a;
        ask_live(&r, &a);
        expect_header(&a, "Connection", i < 5 ? NULL : "close");
        answer_release(&a);
    }
    assert_true(raw_ended(&r));
    raw_close(&r);
}

static void a_connection_ends_by_age(void **state)
{
    static const char *const settings[] = {"--connection_max_age=1s", NULL};
    void *own;
    (void)state;
    assert_int_equal(fixture_start_with(&own, settings), 0);
    struct raw r = fixture_raw(own);
    struct answer a;
    ask_live(&r, &a);
    expect_header(&a, "Connection", NULL);
    answer_release(&a);
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 100000000}, NULL);
    ask_live(&r, &a);
    expect_header(&a, "Connection", "close");
    answer_release(&a);
    assert_true(raw_ended(&r));
    raw_close(&r);
    assert_int_equal(fixture_stop(&own), 0);
}

/* The server's log, listener and epolls take some of the few descriptors. */
static void without_descriptors_connections_wait(void **state)
{
    enum { FILES = 64, CLIENTS = 80 };
    struct raw raw[CLIENTS];
    struct answer a;
    void *own;
    (void)state;
    assert_int_equal(fixture_start(&own), 0);
    struct fixture *f = own;
    assert_int_equal(prlimit(f->server.pid, RLIMIT_NOFILE, &(struct rlimit){FILES, FILES}, NULL),
                     0);
    for (int i = 0; i < CLIENTS; i++) {
        raw[i] = fixture_raw(f);
        assert_true(raw_puts(&raw[i], "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n"));
    }
    for (int i = 0; i < CLIENTS; i++) { /* the last are accepted as the first leave */
        assert_true(raw_read(&raw[i], &a, false));
        assert_int_equal(a.status, 200);
        answer_release(&a);
        raw_close(&raw[i]);
    }
    fixture_check_alive(f);
    assert_int_equal(fixture_stop(&own), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_too_many_gets_503),
        cmocka_unit_test(a_connection_ends_after_its_requests),
        cmocka_unit_test(a_connection_ends_by_age),
        cmocka_unit_test(without_descriptors_connections_wait),
    };
    return cmocka_run_group_tests_name("limits", tests, start, fixture_stop);
}
