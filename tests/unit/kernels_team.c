/* team: every part is done once, and a team stays as it was made. */
#include "kernels/team.h"
#include "tests/support/http/threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void mark(void *work, int i)
{
    ((int *)work)[i]++;
}

static void expect_marks(const int *done, int parts)
{
    for (int i = 0; i < TEAM_MAX; i++)
        assert_int_equal(done[i], i < parts);
}

static void every_part_is_done_once(void **state)
{
    (void)state;
    static const int parts[] = {1, 2, 3, 7, TEAM_MAX};
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        int done[TEAM_MAX] = {0};
        team_run(parts[p], mark, done);
        expect_marks(done, parts[p]);
    }
}

static void every_shared_part_is_done_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++)
        for (int parts = 0; parts <= TEAM_MAX; parts += 17) {
            int done[TEAM_MAX] = {0};
            team_share(threads, parts, mark, done);
            expect_marks(done, parts);
        }
}

static void a_team_stays_as_it_was_made(void **state)
{
    static const int sizes[] = {2, 4, 1, 3, 4};
    (void)state;
    team_make(4);
    char *made = threads_list(getpid());
    assert_non_null(made);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int done[TEAM_MAX] = {0};
        team_run(sizes[i], mark, done);
        team_share(sizes[i], TEAM_MAX, mark, done);
        char *now = threads_list(getpid());
        assert_string_equal(now, made);
        free(now);
    }
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* It runs first: after other tests, threads that these no longer need would still be
         * ending. */
        cmocka_unit_test(a_team_stays_as_it_was_made),
        cmocka_unit_test(every_part_is_done_once),
        cmocka_unit_test(every_shared_part_is_done_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
