#include "tests/gpu/support/compare.h"

#include "tests/support/golden/golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void same_integers(const int64_t *a, int a_rank, const int64_t *b, int b_rank)
{
    assert_int_equal(a_rank, b_rank);
    for (int i = 0; i < a_rank; i++)
        assert_int_equal(a[i], b[i]);
}

static void same_error(const struct error *a, const struct error *b)
{
    assert_string_equal(a->message, b->message);
    assert_true((a->input == NULL) == (b->input == NULL));
    if (a->input)
        assert_string_equal(a->input, b->input);
    assert_int_equal(a->invalid_count, b->invalid_count);
    same_integers(a->bound, a->bound_rank, b->bound, b->bound_rank);
    assert_int_equal(a->fault_count, b->fault_count);
    for (int i = 0; i < a->fault_count; i++) {
        const struct fault *f = &a->faults[i], *g = &b->faults[i];
        same_integers(f->position, f->position_rank, g->position, g->position_rank);
        same_integers(f->index, f->index_rank, g->index, g->index_rank);
        assert_int_equal(f->axis, g->axis);
    }
}

void compare_with_cpu(const struct kernel_run *run, const struct backend *backend,
                      struct lane *lane, const char *name)
{
    struct kernel_run cpu = *run, device = *run;
    device.backend = backend;
    device.lane = lane;
    enum error_code expected = kernel_run_do(&cpu), found = kernel_run_do(&device);
    if (expected != found)
        fail_msg("%s, %s: CPU %s %s; device %s %s", name, run->op, error_name(expected),
                 expected ? cpu.error.message : "", error_name(found),
                 found ? device.error.message : "");
    assert_true(device.guards_hold);
    assert_true(device.ran_on != &backend_cpu);
    if (expected != ERROR_NONE)
        same_error(&cpu.error, &device.error);
    else if (!golden_equal(&cpu.plan.output, &device.plan.output))
        fail_msg("%s, %s of %s: another answer than the CPU's", name, run->op,
                 dtype_name(cpu.plan.output.dtype));
    else
        assert_int_equal(cpu.plan.ignored, device.plan.ignored);
    kernel_run_release(&cpu);
    kernel_run_release(&device);
}
