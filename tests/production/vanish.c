/* Clients that vanish at every stage of a request: whatever was taken for them is given back. */
#include "tests/support/http/gauge.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Rounds of each kind; VANISH_ROUNDS in the environment sets another number. */
enum { ROUNDS = 200 };

static int rounds(void)
{
    const char *text = getenv("VANISH_ROUNDS");
    return text ? atoi(text) : ROUNDS;
}

static const char slow_json[] =
    "{\"inputs\":{\"indices\":[[0]],\"updates\":[7],\"shape\":[1000000]},"
    "\"parameters\":{\"binary_data_output\":true}}";

static int start(void **state)
{
    static const char *const settings[] = {"--queue_jobs=1000", "--memory=1G", NULL};
    return fixture_start_with(state, settings);
}

static void say_slow(struct raw *r)
{
    assert_true(raw_printf(r,
                           "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                           "Content-Length: %zu\r\n\r\n%s",
                           strlen(slow_json), slow_json));
}

static void in_the_headers(struct raw *r)
{
    assert_true(raw_puts(r, "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\nContent-Le"));
}

static void in_the_body(struct raw *r)
{
    char bytes[10000];
    memset(bytes, ' ', sizeof bytes);
    assert_true(raw_puts(r, "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                            "Content-Length: 1000000\r\n\r\n"));
    assert_true(raw_send(r, bytes, sizeof bytes));
}

static void in_a_chunk(struct raw *r)
{
    assert_true(raw_puts(r, "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                            "Transfer-Encoding: chunked\r\n\r\n100\r\n{\"inputs\":"));
}

static void while_queued_or_running(struct raw *r)
{
    say_slow(r);
}

static void in_the_answer(struct raw *r)
{
    char bytes[1000];
    say_slow(r);
    assert_int_equal(recv(r->fd, bytes, sizeof bytes, MSG_WAITALL), sizeof bytes);
    assert_memory_equal(bytes, "HTTP/1.1 200 ", 13);
}

static void (*const stages[])(struct raw *r) = {in_the_headers, in_the_body, in_a_chunk,
                                                while_queued_or_running, in_the_answer};

enum { STAGES = sizeof stages / sizeof *stages };

static const char *const series[] = {
    "tensord_open_requests", "tensord_open_connections", "tensord_queue_jobs",
    "tensord_queue_bytes",   "tensord_running_jobs",     "tensord_memory_used_bytes",
    "process_open_fds",
};

enum { SERIES = sizeof series / sizeof *series };

static void vanish(struct fixture *f, int times)
{
    for (int i = 0; i < times; i++) {
        struct raw r = fixture_raw(f);
        stages[i % STAGES](&r);
        if (i / STAGES % 2 == 0)
            raw_reset(&r);
        else
            raw_close(&r);
    }
}

/* The memory in use is also that of the text of the metrics, which has grown by its series of the
 * operation once each stage has been counted. */
static void everything_is_given_back(void **state)
{
    struct fixture *f = *state;
    double before[SERIES];
    vanish(f, 2 * STAGES);
    gauge_settle(f, "tensord_open_requests", 1);
    for (int i = 0; i < SERIES; i++)
        before[i] = gauge(f, series[i]);
    vanish(f, rounds() * STAGES);
    for (int i = 0; i < SERIES; i++)
        gauge_settle(f, series[i], before[i]);
    fixture_check_alive(f);
}

static void a_cancelled_job_is_counted_as_such(void **state)
{
    struct fixture *f = *state;
    const char *cancelled = "tensord_requests_total{op=\"scatter_nd\",code=\"CANCELLED\"}";
    double before = gauge(f, cancelled);
    struct raw r = fixture_raw(f);
    in_the_body(&r);
    gauge_settle(f, "tensord_open_requests", 2);
    raw_reset(&r);
    gauge_settle(f, cancelled, before + 1);
}

/* The connection ends long before the limits for slow clients. A corked socket holds the bytes back
 * until its sending side is shut, so that both come at once and the server hears of them once. */
static void expect_an_end_after(struct fixture *f, const char *text)
{
    double cut = gauge(f, "tensord_connections_cut_total");
    int on = 1;
    struct raw r = fixture_raw(f);
    assert_int_equal(setsockopt(r.fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on), 0);
    assert_true(raw_puts(&r, text));
    raw_finish(&r);
    assert_true(raw_ended(&r));
    assert_true(gauge(f, "tensord_connections_cut_total") == cut);
    raw_close(&r);
}

static void headers_that_end_too_early_end_their_connection(void **state)
{
    expect_an_end_after(*state, "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\nConte");
}

static void a_body_that_ends_too_early_ends_its_connection(void **state)
{
    const char *cancelled = "tensord_requests_total{op=\"scatter_nd\",code=\"CANCELLED\"}";
    double before = gauge(*state, cancelled);
    expect_an_end_after(*state, "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                                "Content-Length: 1000\r\n\r\n{\"inputs\":");
    gauge_settle(*state, cancelled, before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_given_back),
        cmocka_unit_test(a_cancelled_job_is_counted_as_such),
        cmocka_unit_test(headers_that_end_too_early_end_their_connection),
        cmocka_unit_test(a_body_that_ends_too_early_ends_its_connection),
    };
    return cmocka_run_group_tests_name("vanish", tests, start, fixture_stop);
}
