/* The end in a hurry: what is left when the time is over is told so, and the exit is clean. */
#include "tests/support/http/gauge.h"
#include "tests/support/http/long_job.h"
#include "tests/support/http/preload.h"

#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 5 };

static void say_zeros(struct raw *r, const struct server *server, int count)
{
    char json[200];
    int size = snprintf(json, sizeof json,
                        "{\"inputs\":{\"indices\":[[0]],\"updates\":[7],\"shape\":[%d]},"
                        "\"parameters\":{\"binary_data_output\":true}}",
                        count);
    assert_true(raw_open(r, server->port));
    assert_true(raw_printf(r,
                           "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                           "Content-Length: %d\r\n\r\n%s",
                           size, json));
}

static void start(struct fixture **f, const char *delay, const char *timeout)
{
    const char *const settings[] = {delay, timeout, "--workers=1", "--memory=4G", NULL};
    void *own;
    assert_int_equal(fixture_start_with(&own, settings), 0);
    *f = own;
}

/* Tears down a fixture whose server has been told to end. */
static void expect_end(struct fixture *f, int status)
{
    assert_int_equal(server_wait(&f->server), status);
    client_release(&f->client);
    free(f);
}

static void what_is_left_is_told_that_the_server_drains(void **state)
{
    struct fixture *f;
    struct raw raw[JOBS];
    (void)state;
    start(&f, "--drain_delay=0", "--drain_timeout=0");
    assert_true(raw_open(&raw[0], f->server.port));
    assert_true(long_job_say(&raw[0]));
    gauge_settle(f, "tensord_running_jobs", 1);
    for (int i = 1; i < JOBS; i++)
        say_zeros(&raw[i], &f->server, 1000000);
    gauge_settle(f, "tensord_queue_jobs", JOBS - 1);
    server_terminate(&f->server);
    for (int i = 0; i < JOBS; i++) {
        struct answer a;
        assert_true(raw_read(&raw[i], &a, false));
        expect_error(&a, 503, "DRAINING", "the server stops");
        expect_header(&a, "Retry-After", "1");
        expect_header(&a, "Connection", "close");
        answer_release(&a);
        raw_close(&raw[i]);
    }
    expect_end(f, 0);
}

static void new_requests_are_refused_while_old_ones_are_finished(void **state)
{
    struct fixture *f;
    struct raw raw[JOBS], old;
    struct answer a = {0};
    (void)state;
    start(&f, "--drain_delay=0", "--drain_timeout=60s");
    assert_true(raw_open(&old, f->server.port));
    for (int i = 0; i < JOBS; i++)
        say_zeros(&raw[i], &f->server, 40000000);
    /* Open are the jobs, whose answers of 160 MB nobody reads yet, and the question about the
     * gauge. */
    gauge_settle(f, "tensord_open_requests", JOBS + 1);
    server_terminate(&f->server);
    int status; /* 200 until the signal has been seen; then the connection may end unasked, too */
    do {
        bool answered = raw_puts(&old, "GET /v2/health/ready HTTP/1.1\r\nHost: t\r\n\r\n") &&
                        raw_read(&old, &a, false);
        status = answered ? a.status : 503;
        answer_release(&a);
    } while (status == 200);
    assert_int_equal(status, 503);
    raw_close(&old);
    for (int i = 0; i < JOBS; i++) {
        assert_true(raw_read(&raw[i], &a, false));
        assert_int_equal(a.status, 200);
        answer_release(&a);
        raw_close(&raw[i]);
    }
    expect_end(f, 0);
}

static void a_second_signal_cuts_the_wait(void **state)
{
    struct fixture *f;
    (void)state;
    start(&f, "--drain_delay=1h", "--drain_timeout=1h");
    server_terminate(&f->server);
    gauge_settle(f, "tensord_ready", 0);
    server_terminate(&f->server);
    expect_end(f, 0);
}

/* A job that never ends is given up at last; its client sees the connection end without an
 * answer. */
static void a_job_that_does_not_end_does_not_keep_the_process(void **state)
{
    static const char *const settings[] = {"--drain_timeout=0", "--workers=1", NULL};
    if (!PRELOAD_WORKS)
        skip();
    assert_int_equal(preload_start(state, "stall.so", settings), 0);
    struct fixture *f = *state;
    struct raw r;
    say_zeros(&r, &f->server, 1000000);
    assert_true(server_says(&f->server, "stalled", 1));
    server_terminate(&f->server);
    assert_true(raw_ended(&r));
    raw_close(&r);
    assert_true(server_says(&f->server, "\"a job does not end\"", 1));
    expect_end(f, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_is_told_that_the_server_drains),
        cmocka_unit_test(new_requests_are_refused_while_old_ones_are_finished),
        cmocka_unit_test(a_second_signal_cuts_the_wait),
        cmocka_unit_test(a_job_that_does_not_end_does_not_keep_the_process),
    };
    return cmocka_run_group_tests_name("drain", tests, NULL, NULL);
}
