/* Clients that are too slow are cut off at their limits, and nobody else notices them. */
#include "tests/support/http/gauge.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 1000, BODY = 100000 };

static int start(void **state)
{
    static const char *const settings[] = {"--header_timeout=1s", "--rate_grace=1s", NULL};
    return fixture_start_with(state, settings);
}

static void open_all(struct fixture *f, struct raw *raw, const char *text)
{
    for (int i = 0; i < CLIENTS; i++) {
        raw[i] = fixture_raw(f);
        assert_true(raw_puts(&raw[i], text));
    }
}

static void close_all(struct raw *raw)
{
    for (int i = 0; i < CLIENTS; i++)
        raw_close(&raw[i]);
}

/* Each sends a byte now and then until it is cut off; meanwhile others are served. */
static void trickle_until_cut(struct fixture *f, struct raw *raw, const char *byte)
{
    for (int left = CLIENTS; left > 0;) {
        fixture_check_alive(f);
        left = 0;
        for (int i = 0; i < CLIENTS; i++)
            left += raw_puts(&raw[i], byte);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

static void slow_headers_are_cut_off(void **state)
{
    struct raw raw[CLIENTS];
    double cut = gauge(*state, "tensord_connections_cut_total");
    open_all(*state, raw, "GET /v2 HTTP/1.1\r\nX-Slow: ");
    trickle_until_cut(*state, raw, "x");
    assert_true(gauge(*state, "tensord_connections_cut_total") == cut + CLIENTS);
    close_all(raw);
}

static void slow_bodies_are_cut_off_and_their_memory_is_back(void **state)
{
    struct raw raw[CLIENTS];
    double used = gauge(*state, "tensord_memory_used_bytes");
    open_all(*state, raw,
             "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n"
             "\r\n{");
    gauge_settle(*state, "tensord_open_requests", CLIENTS + 1);
    assert_true(gauge(*state, "tensord_memory_used_bytes") > used + 1.0 * CLIENTS * BODY);
    trickle_until_cut(*state, raw, " ");
    gauge_settle(*state, "tensord_memory_used_bytes", used);
    close_all(raw);
}

/* The body comes over several windows of rate_grace, each of which must count its own bytes. */
static void a_body_that_comes_steadily_is_not_cut_off(void **state)
{
    enum { PIECE = 5000, PIECES = 70, PIECE_MS = 50 };
    static char blanks[PIECE];
    struct raw r = fixture_raw(*state);
    double cut = gauge(*state, "tensord_connections_cut_total");
    struct answer a;
    memset(blanks, ' ', sizeof blanks);
    assert_true(raw_printf(&r,
                           "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                           "Content-Length: %d\r\n\r\n",
                           PIECE * PIECES));
    for (int i = 0; i < PIECES; i++) {
        assert_true(raw_send(&r, blanks, sizeof blanks));
        nanosleep(&(struct timespec){.tv_nsec = PIECE_MS * 1000000}, NULL);
    }
    assert_true(raw_read(&r, &a, false));
    expect_error(&a, 400, "INVALID_JSON", "ends at byte 350000");
    answer_release(&a);
    assert_true(gauge(*state, "tensord_connections_cut_total") == cut);
    raw_close(&r);
}

static const char much_json[] =
    "{\"inputs\":{\"indices\":[[0]],\"updates\":[7],\"shape\":[8000000]},"
    "\"parameters\":{\"binary_data_output\":true}}";

static void ask_for_much(struct raw *r)
{
    assert_true(raw_printf(r,
                           "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                           "Content-Length: %zu\r\n\r\n%s",
                           strlen(much_json), much_json));
}

static void slow_readers_are_cut_off(void **state)
{
    struct raw r = fixture_raw(*state);
    double cut = gauge(*state, "tensord_connections_cut_total");
    int small = 4096;
    setsockopt(r.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    ask_for_much(&r);
    gauge_settle(*state, "tensord_connections_cut_total", cut + 1);
    gauge_settle(*state, "tensord_open_requests", 1);
    raw_close(&r);
}

/* The server does not know how fast a client reads over a Unix socket. */
static void who_reads_nothing_over_a_unix_socket_is_cut_off_as_idle(void **state)
{
    char path[64], listen[128];
    const char *const settings[] = {listen, "--idle_timeout=1s", NULL};
    struct raw r;
    struct answer a;
    void *f;
    (void)state;
    snprintf(path, sizeof path, "/tmp/tensord-slow-%d", (int)getpid());
    snprintf(listen, sizeof listen, "--listen=127.0.0.1:0,unix:%s", path);
    assert_int_equal(fixture_start_with(&f, settings), 0);
    assert_true(raw_open_unix(&r, path));
    ask_for_much(&r);
    assert_int_equal(recv(r.fd, path, 1, MSG_PEEK), 1); /* the answer has begun */
    gauge_settle(f, "tensord_open_requests", 1);
    assert_false(raw_read(&r, &a, false));
    assert_true(r.ended);
    answer_release(&a);
    raw_close(&r);
    assert_int_equal(fixture_stop(&f), 0);
}

/* The client waits longer between two requests than headers may take. */
static void an_idle_connection_is_left_alone(void **state)
{
    struct raw r = fixture_raw(*state);
    for (int i = 0; i < 2; i++) {
        struct answer a;
        assert_true(raw_puts(&r, "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n"));
        assert_true(raw_read(&r, &a, false));
        assert_int_equal(a.status, 200);
        answer_release(&a);
        if (i == 0)
            nanosleep(&(struct timespec){.tv_sec = 3}, NULL);
    }
    raw_close(&r);
}

/* The connection ends long before the limit for idle ones, and is not counted as slow. A corked
 * socket holds the request back until its sending side is shut, so that both come at once and the
 * server hears of them once. */
static void a_client_that_will_send_no_more_is_let_go(void **state)
{
    struct raw r = fixture_raw(*state);
    struct answer a;
    double cut = gauge(*state, "tensord_connections_cut_total");
    int on = 1;
    assert_int_equal(setsockopt(r.fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on), 0);
    assert_true(raw_puts(&r, "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n"));
    raw_finish(&r);
    assert_true(raw_read(&r, &a, false));
    assert_int_equal(a.status, 200);
    answer_release(&a);
    assert_true(raw_ended(&r));
    assert_true(gauge(*state, "tensord_connections_cut_total") == cut);
    raw_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_headers_are_cut_off),
        cmocka_unit_test(slow_bodies_are_cut_off_and_their_memory_is_back),
        cmocka_unit_test(a_body_that_comes_steadily_is_not_cut_off),
        cmocka_unit_test(slow_readers_are_cut_off),
        cmocka_unit_test(who_reads_nothing_over_a_unix_socket_is_cut_off_as_idle),
        cmocka_unit_test(an_idle_connection_is_left_alone),
        cmocka_unit_test(a_client_that_will_send_no_more_is_let_go),
    };
    return cmocka_run_group_tests_name("slow", tests, start, fixture_stop);
}
