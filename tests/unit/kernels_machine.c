/* machine: what is read and measured of the processor. */
#include "kernels/machine.h"
#include "kernels/team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void caches_are_told_or_typical(void **state)
{
    (void)state;
    struct machine machine;
    machine_read(&machine);
    assert_true(machine.second_level_bytes >= 64 << 10);
    assert_true(machine.third_level_bytes >= machine.second_level_bytes);
    assert_true(machine.line_ns == machine_typical.line_ns);
    assert_true(machine.team_ns == machine_typical.team_ns);
}

/* The values before are impossible, so that a measurement shows. */
static void a_line_and_a_team_are_measured(void **state)
{
    (void)state;
    struct machine machine = machine_typical;
    machine.line_ns = machine.team_ns = -1;
    team_make(2);
    machine_measure(&machine, 2);
    assert_true(machine.line_ns > 0);
    assert_true(machine.team_ns > 0);
}

static void one_thread_has_no_team_to_measure(void **state)
{
    (void)state;
    struct machine machine = machine_typical;
    machine.line_ns = machine.team_ns = -1;
    machine_measure(&machine, 1);
    assert_true(machine.line_ns > 0);
    assert_true(machine.team_ns == -1);
}

static void a_cache_of_no_size_is_not_measured(void **state)
{
    (void)state;
    struct machine machine = machine_typical;
    machine.second_level_bytes = 0;
    machine.line_ns = -1;
    machine_measure(&machine, 1);
    assert_true(machine.line_ns == -1);
}

static void an_absurd_cache_is_measured_within_bounds(void **state)
{
    (void)state;
    struct machine machine = machine_typical;
    machine.second_level_bytes = SIZE_MAX;
    machine.line_ns = -1;
    machine_measure(&machine, 1);
    assert_true(machine.line_ns > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_are_told_or_typical),
        cmocka_unit_test(a_line_and_a_team_are_measured),
        cmocka_unit_test(one_thread_has_no_team_to_measure),
        cmocka_unit_test(a_cache_of_no_size_is_not_measured),
        cmocka_unit_test(an_absurd_cache_is_measured_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
