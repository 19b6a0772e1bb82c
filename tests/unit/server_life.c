/* life: what the process does for itself before it serves. */
#include "server/life/life.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Runs `check` in a process of its own, as it changes the process; returns its result. */
static bool holds(bool (*check)(void))
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(check() ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool closed_streams_open(void)
{
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    life_prepare_process();
    int next = dup(STDERR_FILENO);
    return fcntl(STDIN_FILENO, F_GETFD) >= 0 && write(STDOUT_FILENO, "x", 1) == 1 &&
           next > STDERR_FILENO;
}

static void no_socket_becomes_a_standard_stream(void **state)
{
    (void)state;
    assert_true(holds(closed_streams_open));
}

static bool limit_rises(void)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = 64;
    setrlimit(RLIMIT_NOFILE, &files);
    life_prepare_process();
    getrlimit(RLIMIT_NOFILE, &files);
    return files.rlim_cur == files.rlim_max && files.rlim_cur > 64;
}

static void the_limit_of_files_is_raised(void **state)
{
    (void)state;
    assert_true(holds(limit_rises));
}

static bool signals_wait(void)
{
    sigset_t pending;
    life_prepare_process();
    raise(SIGTERM);
    raise(SIGINT);
    raise(SIGHUP);
    sigpending(&pending);
    return sigismember(&pending, SIGTERM) && sigismember(&pending, SIGINT) &&
           sigismember(&pending, SIGHUP);
}

static void signals_wait_until_they_are_asked_for(void **state)
{
    (void)state;
    assert_true(holds(signals_wait));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_socket_becomes_a_standard_stream),
        cmocka_unit_test(the_limit_of_files_is_raised),
        cmocka_unit_test(signals_wait_until_they_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
