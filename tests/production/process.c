/* The running process as its machine sees it: environment, memory. */
#include "tests/support/gauge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BODY = 8 << 20 };

static FILE *open_proc(const struct fixture *f, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)f->server.pid, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

/* Whether one of the strings in /proc/PID/NAME, each of which a NUL ends, is exactly this. */
static bool holds(const struct fixture *f, const char *name, const char *wanted)
{
    FILE *file = open_proc(f, name);
    char *text = NULL;
    size_t capacity = 0;
    bool found = false;
    while (!found && getdelim(&text, &capacity, '\0', file) >= 0)
        found = strcmp(text, wanted) == 0;
    free(text);
    fclose(file);
    return found;
}

static struct fixture *start(const char *wait_policy)
{
    static const char *const settings[] = {"--queue_jobs=17", "--log_level=debug", NULL};
    void *f;
    if (wait_policy)
        setenv("OMP_WAIT_POLICY", wait_policy, 1);
    else
        unsetenv("OMP_WAIT_POLICY");
    assert_int_equal(fixture_start_with(&f, settings), 0);
    return f;
}

static void stop(struct fixture *f)
{
    void *state = f;
    assert_int_equal(fixture_stop(&state), 0);
}

/* Its second start keeps the process, which the tests know by its number, and the settings. */
static void idle_teams_are_told_to_sleep(void **state)
{
    (void)state;
    struct fixture *f = start(NULL);
    assert_true(holds(f, "environ", "OMP_WAIT_POLICY=passive"));
    assert_true(holds(f, "cmdline", "--queue_jobs=17"));
    assert_true(holds(f, "cmdline", "--log_level=debug"));
    fixture_check_alive(f);
    stop(f);
}

static void a_wait_policy_that_is_set_is_kept(void **state)
{
    (void)state;
    struct fixture *f = start("PASSIVE");
    assert_true(holds(f, "environ", "OMP_WAIT_POLICY=PASSIVE"));
    assert_false(holds(f, "environ", "OMP_WAIT_POLICY=passive"));
    stop(f);
}

/* Whether a mapping of at least so many bytes asks for huge pages. */
static bool has_huge_pages(const struct fixture *f, unsigned long bytes)
{
    FILE *smaps = open_proc(f, "smaps");
    char line[4096];
    unsigned long kb = 0;
    bool found = false;
    while (!found && fgets(line, sizeof line, smaps)) {
        sscanf(line, "Size: %lu kB", &kb);
        found = strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " hg") && kb * 1024 >= bytes;
    }
    fclose(smaps);
    return found;
}

static void a_large_body_lies_in_huge_pages(void **state)
{
    (void)state;
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0) {
        print_message("this kernel has no transparent huge pages\n");
        skip();
    }
    struct fixture *f = start("passive");
    struct raw r = fixture_raw(f);
    assert_false(has_huge_pages(f, BODY));
    assert_true(raw_printf(&r,
                           "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                           "Content-Length: %d\r\n\r\n{",
                           BODY));
    gauge_settle(f, "tensord_open_requests", 2);
    assert_true(has_huge_pages(f, BODY));
    raw_close(&r);
    stop(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_teams_are_told_to_sleep),
        cmocka_unit_test(a_wait_policy_that_is_set_is_kept),
        cmocka_unit_test(a_large_body_lies_in_huge_pages),
    };
    return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
