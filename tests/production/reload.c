/* SIGHUP: the settings are read again, and taken whole or not at all. */
#include "tests/support/http/gauge.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char path[64], option[80];

static void write_settings(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int start(void **state)
{
    const char *const settings[] = {option, NULL};
    snprintf(path, sizeof path, "/tmp/tensord-reload.%d", getpid());
    snprintf(option, sizeof option, "--config=%s", path);
    write_settings("max_body = 1M\n");
    return fixture_start_with(state, settings);
}

static int stop(void **state)
{
    unlink(path);
    return fixture_stop(state);
}

static int count_in_log(struct fixture *f, const char *text)
{
    char *log = server_log(&f->server);
    int count = 0;
    for (const char *p = log; p && (p = strstr(p, text)); p++)
        count++;
    free(log);
    return count;
}

/* Waits until the log holds `text` more than `before` times. */
static void await_log(struct fixture *f, const char *text, int before)
{
    for (int tries = 0; count_in_log(f, text) <= before; tries++) {
        if (tries == 3000)
            fail_msg("the log does not say: %s", text);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

/* Sends SIGHUP and waits until the log says `text` once more. */
static void hang_up(struct fixture *f, const char *text)
{
    int before = count_in_log(f, text);
    kill(f->server.pid, SIGHUP);
    await_log(f, text, before);
}

static int status_of(struct fixture *f, size_t size)
{
    char *body = malloc(size);
    memset(body, ' ', size);
    struct answer a = fixture_call(
        f, &(struct call){.path = "/v2/models/scatter_nd/infer", .body = body, .size = size});
    int status = a.status;
    answer_release(&a);
    free(body);
    return status;
}

static void a_limit_changes(void **state)
{
    assert_int_equal(status_of(*state, 500000), 400); /* blanks are no JSON, but not too many */
    write_settings("max_body = 100K\n");
    hang_up(*state, "settings loaded");
    assert_int_equal(status_of(*state, 500000), 413);
    write_settings("max_body = 1M\n");
    hang_up(*state, "settings loaded");
    assert_int_equal(status_of(*state, 500000), 400);
}

static void a_bad_file_changes_nothing_and_is_explained(void **state)
{
    write_settings("max_body = 2K\nmax_json = loads\n");
    hang_up(*state, "line 2: max_json = loads");
    assert_int_equal(status_of(*state, 500000), 400);
    write_settings("max_body = 1M\n");
}

static void what_needs_a_restart_is_told(void **state)
{
    write_settings("max_body = 1M\nworkers = 7\n");
    hang_up(*state, "\"setting needs a restart\",\"setting\":\"workers\"");
    write_settings("max_body = 1M\n");
    hang_up(*state, "settings loaded");
}

static void the_log_level_changes(void **state)
{
    write_settings("max_body = 1M\nlog_level = debug\n");
    hang_up(*state, "settings loaded");
    fixture_check_alive(*state);
    struct answer a = fixture_call(*state, &(struct call){.path = "/v2/health/live"});
    answer_release(&a);
    await_log(*state, "\"level\":\"debug\"", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_changes),
        cmocka_unit_test(a_bad_file_changes_nothing_and_is_explained),
        cmocka_unit_test(what_needs_a_restart_is_told),
        cmocka_unit_test(the_log_level_changes),
    };
    return cmocka_run_group_tests_name("reload", tests, start, stop);
}
