/* SIGTERM: what was taken is answered, and the process ends with status 0. */
#include "tests/support/http/crowd.h"
#include "tests/support/http/fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { CLIENTS = 16, BEFORE = 500 };

static void start(struct server *s, const char *delay)
{
    const char *const settings[] = {delay, "--drain_timeout=60s", NULL};

    assert_true(server_start(s, settings));
}

static const char small_json[] =
    "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[1]],\"updates\":[5]}}";
static const char slow_json[] =
    "{\"inputs\":{\"indices\":[[2999999]],\"updates\":[7],\"shape\":[3000000]},"
    "\"parameters\":{\"binary_data_output\":true}}";

struct load {
    struct server *server;
    bool left[CLIENTS]; /* was told that its connection closes */
    int heard, after;
};

static bool ask(void *context, int member, struct call *call)
{
    struct load *l = context;
    bool slow = member % 4 == 0;

    *call = (struct call){.path = slow ? "/v2/models/scatter_nd/infer"
                                       : "/v2/models/tensor_scatter_add/infer",
                          .body = slow ? slow_json : small_json,
                          .size = strlen(slow ? slow_json : small_json)};
    return !l->left[member];
}

static bool hear(void *context, int member, const struct answer *a)
{
    struct load *l = context;
    const char *connection;

    if (a == NULL || a->status != 200)
        return false;
    connection = answer_header(a, "Connection");
    if (++l->heard == BEFORE)
        server_terminate(l->server);
    l->after += l->heard > BEFORE;
    l->left[member] = connection != NULL && strcmp(connection, "close") == 0;
    return true;
}

static void under_load_no_request_is_lost(void **state)
{
    struct server server;
    struct load l = {.server = &server};
    struct crowd crowd = {.members = CLIENTS, .context = &l, .ask = ask, .hear = hear};

    (void)state;
    start(&server, "--drain_delay=2s");
    crowd.port = server.port;
    assert_true(crowd_run(&crowd));
    assert_true(l.after >= CLIENTS);
    assert_int_equal(server_wait(&server), 0);
}

/* Asks for an answer that is too large for the buffers of the connection. */
static bool ask_slowly(struct raw *r)
{
    return raw_printf(r,
                      "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                      "Content-Length: %zu\r\n\r\n%s",
                      strlen(slow_json), slow_json);
}

static void jobs_that_wait_in_the_queue_are_answered(void **state)
{
    struct server server;
    struct raw raw[CLIENTS];

    (void)state;
    start(&server, "--drain_delay=1s");
    for (int i = 0; i < CLIENTS; i++) {
        assert_true(raw_open(&raw[i], server.port));
        assert_true(ask_slowly(&raw[i]));
    }
    server_terminate(&server);
    for (int i = 0; i < CLIENTS; i++) {
        struct answer a;
        size_t size = 0;

        assert_true(raw_read(&raw[i], &a, false));
        assert_int_equal(a.status, 200);
        assert_non_null(answer_tensors(&a, &size));
        assert_int_equal(size, 12000000);
        answer_release(&a);
        assert_true(raw_ended(&raw[i]));
        raw_close(&raw[i]);
    }
    assert_int_equal(server_wait(&server), 0);
}

static void ready_is_503_while_it_drains(void **state)
{
    struct server server;
    struct raw r;
    struct answer a;
    int tries = 0;

    (void)state;
    start(&server, "--drain_delay=30s");
    server_terminate(&server);
    do {
        assert_true(raw_open(&r, server.port));
        assert_true(raw_puts(&r, "GET /v2/health/ready HTTP/1.1\r\nHost: t\r\n\r\n"));
        assert_true(raw_read(&r, &a, false));
        if (a.status != 200)
            break;
        answer_release(&a);
        raw_close(&r);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    } while (++tries < 1000);
    assert_int_equal(a.status, 503);
    expect_part(&a, "'live':true,'ready':false");
    answer_release(&a);
    raw_close(&r);
    /* The second signal cuts the delay; without it server_wait would give up. */
    server_terminate(&server);
    assert_int_equal(server_wait(&server), 0);
}

static void idle_connections_do_not_hold_it_up(void **state)
{
    struct server server;
    struct raw idle, used;
    struct answer a;

    (void)state;
    start(&server, "--drain_delay=0");
    assert_true(raw_open(&idle, server.port));
    assert_true(raw_open(&used, server.port));
    assert_true(raw_puts(&used, "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n"));
    assert_true(raw_read(&used, &a, false));
    answer_release(&a);
    server_terminate(&server);
    assert_int_equal(server_wait(&server), 0);
    assert_true(raw_ended(&idle));
    assert_true(raw_ended(&used));
    raw_close(&idle);
    raw_close(&used);
}

/* Whoever reads its connections one after the other must not wait for one that stays silent until
 * another, which it does not read yet, is over. */
static void an_idle_connection_ends_before_the_last_answer_is_out(void **state)
{
    struct server server;
    struct raw idle, busy;
    struct answer a;
    char first;

    (void)state;
    start(&server, "--drain_delay=0");
    assert_true(raw_open(&idle, server.port));
    assert_true(raw_puts(&idle, "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n"));
    assert_true(raw_read(&idle, &a, false));
    answer_release(&a);
    assert_true(raw_open(&busy, server.port));
    assert_true(ask_slowly(&busy));
    assert_int_equal(recv(busy.fd, &first, 1, MSG_PEEK), 1);
    server_terminate(&server);
    assert_true(raw_ended(&idle));
    assert_true(raw_read(&busy, &a, false));
    assert_int_equal(a.status, 200);
    answer_release(&a);
    raw_close(&idle);
    raw_close(&busy);
    assert_int_equal(server_wait(&server), 0);
}

static void sigint_is_the_same(void **state)
{
    struct server server;

    (void)state;
    start(&server, "--drain_delay=0");
    kill(server.pid, SIGINT);
    assert_int_equal(server_wait(&server), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(under_load_no_request_is_lost),
        cmocka_unit_test(jobs_that_wait_in_the_queue_are_answered),
        cmocka_unit_test(ready_is_503_while_it_drains),
        cmocka_unit_test(idle_connections_do_not_hold_it_up),
        cmocka_unit_test(an_idle_connection_ends_before_the_last_answer_is_out),
        cmocka_unit_test(sigint_is_the_same),
    };

    return cmocka_run_group_tests_name("shutdown", tests, NULL, NULL);
}
