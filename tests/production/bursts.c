/* Many connections become ready in one moment: however many they are, all are answered. */
#include "tests/support/http/gauge.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 257 };

static const char request[] = "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n";

/* One loop sees all of them. */
static int start(void **state)
{
    static const char *const settings[] = {"--http_threads=1", NULL};
    return fixture_start_with(state, settings);
}

static void expect_live(struct raw *r, int count)
{
    struct answer a;
    if (!raw_read(r, &a, false))
        fail_msg("of %d ready connections one got no answer", count);
    assert_int_equal(a.status, 200);
    answer_release(&a);
}

/* The server stands still while all requests arrive. */
static void check_burst(struct fixture *f, struct raw *raw, int count)
{
    static const struct timespec moment = {.tv_nsec = 50000000};
    kill(f->server.pid, SIGSTOP);
    nanosleep(&moment, NULL);
    for (int i = 0; i < count; i++)
        assert_true(raw_puts(&raw[i], request));
    nanosleep(&moment, NULL);
    kill(f->server.pid, SIGCONT);
    for (int i = 0; i < count; i++)
        expect_live(&raw[i], count);
}

static void as_many_as_libmicrohttpd_takes_at_a_time(void **state)
{
    static const int counts[] = {126, 127, 128, 129, 255, 256, 257};
    struct raw raw[MOST];
    for (int i = 0; i < MOST; i++) {
        raw[i] = fixture_raw(*state);
        assert_true(raw_puts(&raw[i], request));
        expect_live(&raw[i], 1);
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        check_burst(*state, raw, counts[i]);
    for (int i = 0; i < MOST; i++)
        raw_close(&raw[i]);
    fixture_check_alive(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_libmicrohttpd_takes_at_a_time),
    };
    return cmocka_run_group_tests_name("bursts", tests, start, fixture_stop);
}
