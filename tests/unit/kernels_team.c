#include "kernels/team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void mark(void *work, int i)
{
    ((int *)work)[i]++;
}

static void every_part_is_done_once(void **state)
{
    (void)state;
    static const int parts[] = {1, 2, 3, 7, TEAM_MAX};
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        int done[TEAM_MAX] = {0};
        team_run(parts[p], mark, done);
        for (int i = 0; i < TEAM_MAX; i++)
            assert_int_equal(done[i], i < parts[p]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_is_done_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
