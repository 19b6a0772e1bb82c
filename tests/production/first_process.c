/* The server as the first process of a container, to whom the kernel passes on only the signals
 * that it waits for: SIGTERM ends it, after what has begun. */
#include "tests/support/http/gauge.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes 160 MB of zeros. */
static const char long_json[] =
    "{\"inputs\":{\"indices\":[[0]],\"updates\":[7],\"shape\":[40000000]},"
    "\"parameters\":{\"binary_data_output\":true}}";

/* Of the numbers that a process has in its namespace and those around it the last is its own. */
static bool is_first(const struct fixture *f)
{
    char path[64], line[256], *number = NULL;
    snprintf(path, sizeof path, "/proc/%d/status", (int)f->server.pid);
    FILE *status = fopen(path, "r");
    assert_non_null(status);
    while (!number && fgets(line, sizeof line, status))
        if (strncmp(line, "NSpid:", 6) == 0)
            number = strrchr(line, '\t');
    fclose(status);
    return number && atoi(number) == 1;
}

static void a_signal_ends_it_when_its_request_is_answered(void **state)
{
    struct fixture *f;
    struct answer a;
    assert_int_equal(fixture_start(state), 0);
    f = *state;
    assert_true(is_first(f));
    struct raw r = fixture_raw(f);
    assert_true(raw_printf(&r,
                           "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                           "Content-Length: %zu\r\n\r\n%s",
                           strlen(long_json), long_json));
    gauge_settle(f, "tensord_open_requests", 2);
    server_terminate(&f->server);
    assert_true(server_says(&f->server, "\"draining\"", 1));
    assert_true(raw_read(&r, &a, false));
    assert_int_equal(a.status, 200);
    answer_release(&a);
    raw_close(&r);
    assert_int_equal(server_wait(&f->server), 0);
    client_release(&f->client);
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_ends_it_when_its_request_is_answered),
    };
    /* The next process that this one makes is the first of its namespace. */
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
        puts("this process may not make a namespace of processes");
        return 77;
    }
    /* The leak check looks itself up in /proc, by a number that is another's there. */
    setenv("LSAN_OPTIONS", "detect_leaks=0", 1);
    int failed = cmocka_run_group_tests_name("first_process", tests, NULL, NULL);
    /* At exit it would start one more process, which a namespace whose first has ended refuses. */
    fflush(stdout);
    _exit(failed);
}
