/* pause: the bound of a repeat doubles from the least to the most, its floor holds, and a signal
 * ends it at once. */
#include "server/follow/pause.h"

#include "server/base/clock.h"
#include "server/base/units.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static void the_bound_doubles_up_to_the_most_and_starts_anew(void **state)
{
    static const uint64_t bounds[] = {2, 4, 8, 10, 10};
    struct pause pause;
    (void)state;
    assert_true(pause_init(&pause, 1 * MSEC, 10 * MSEC));
    assert_true(pause.next_ns == 1 * MSEC);
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        assert_true(pause_repeat(&pause, 0));
        assert_true(pause.next_ns == bounds[i] * MSEC);
    }
    pause_reset(&pause);
    assert_true(pause.next_ns == 1 * MSEC);
    pause_release(&pause);
}

static void a_repeat_waits_half_its_bound_or_the_floor_at_least(void **state)
{
    struct pause pause;
    (void)state;
    assert_true(pause_init(&pause, 20 * MSEC, 20 * MSEC));
    uint64_t start = clock_ns();
    assert_true(pause_repeat(&pause, 0));
    assert_true(clock_ns() - start >= 10 * MSEC);
    start = clock_ns();
    assert_true(pause_repeat(&pause, 50 * MSEC));
    assert_true(clock_ns() - start >= 50 * MSEC);
    pause_release(&pause);
}

static void a_signal_ends_it(void **state)
{
    struct pause pause;
    (void)state;
    assert_true(pause_init(&pause, 60 * SEC, 60 * SEC));
    assert_false(pause_ends(&pause));
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    uint64_t start = clock_ns();
    assert_false(pause_repeat(&pause, 0));
    assert_true(clock_ns() - start < 20 * SEC);
    assert_true(pause_ends(&pause));
    pause_release(&pause);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_doubles_up_to_the_most_and_starts_anew),
        cmocka_unit_test(a_repeat_waits_half_its_bound_or_the_floor_at_least),
        cmocka_unit_test(a_signal_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
