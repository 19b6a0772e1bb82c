/* Every call of the CUDA runtime fails in turn, over a fixed sample of a hundred cases: that job
 * gets an error of ours, the lane serves the next one, and nothing leaks (ptxemu counts what lives
 * at the end, and a lane that closes waits for all that it began). */
#include "tests/gpu/support/calls.h"
#include "tests/gpu/support/compare.h"
#include "tests/gpu/support/random_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = 100 };

/* Runs the case with the n-th call of that kind failing. False when there are not so many. */
static bool fail_one(struct kernel_run *run, enum call call, int n, cudaError_t status)
{
    struct error error;
    struct lane *lane = backend_cuda()->open(0, SIZE_MAX, &error);
    assert_non_null(lane);
    calls_reset();
    calls_fail(call, n, status);
    run->lane = lane;
    enum error_code code = kernel_run_do(run);
    bool failed = calls_counted(call) > n;
    calls_reset();
    if (failed) {
        assert_int_equal(code, status == cudaErrorMemoryAllocation ? ERROR_RESOURCE_EXHAUSTED
                                                                   : ERROR_INTERNAL);
        assert_non_null(strstr(run->error.message, "CUDA device 0: "));
        assert_true(run->guards_hold);
        assert_false(run->is_broken);
    }
    kernel_run_release(run);
    if (failed)
        compare_with_cpu(run, backend_cuda(), lane, "the same again");
    backend_cuda()->close(lane);
    return failed;
}

static void fail_each(enum call call, cudaError_t status)
{
    int failures = 0;
    for (int i = 0; i < CASES; i++) {
        struct random_case c;
        random_case_make(&c, NULL, 1000 + (uint64_t)i, SIZE_TINY);
        c.run.backend = backend_cuda();
        for (int n = 0; fail_one(&c.run, call, n, status); n++)
            failures++;
        random_case_release(&c);
    }
    assert_true(failures >= CASES / 2);
    print_message("%d failures\n", failures);
}

static void each_allocation_fails_in_turn(void **state)
{
    (void)state;
    fail_each(CALL_MALLOC, cudaErrorMemoryAllocation);
}

static void each_launch_fails_in_turn(void **state)
{
    (void)state;
    fail_each(CALL_LAUNCH, cudaErrorLaunchOutOfResources);
}

static void each_copy_to_the_device_fails_in_turn(void **state)
{
    (void)state;
    fail_each(CALL_UPLOAD, cudaErrorInvalidValue);
}

static void each_fill_fails_in_turn(void **state)
{
    (void)state;
    fail_each(CALL_FILL, cudaErrorInvalidValue);
}

static void a_lane_whose_pinned_memory_fails_does_not_open(void **state)
{
    struct error error;
    (void)state;
    calls_reset();
    calls_fail(CALL_HOST_ALLOC, 0, cudaErrorMemoryAllocation);
    assert_null(backend_cuda()->open(0, SIZE_MAX, &error));
    assert_int_equal(error.code, ERROR_RESOURCE_EXHAUSTED);
    calls_reset();
}

static void a_device_that_is_not_there_does_not_open(void **state)
{
    struct error error;
    (void)state;
    assert_null(backend_cuda()->open(99, SIZE_MAX, &error));
    assert_int_equal(error.code, ERROR_INTERNAL);
}

static void a_lost_context_is_said_and_survived(void **state)
{
    struct error error;
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct random_case c;
        struct lane *lane = backend_cuda()->open(0, SIZE_MAX, &error);
        assert_non_null(lane);
        random_case_make(&c, NULL, 1000 + (uint64_t)i, SIZE_TINY);
        c.run.backend = backend_cuda();
        c.run.lane = lane;
        calls_lose_context(cudaErrorIllegalAddress);
        assert_int_equal(kernel_run_do(&c.run), ERROR_INTERNAL);
        assert_true(c.run.is_broken);
        calls_reset();
        kernel_run_release(&c.run);
        random_case_release(&c);
        backend_cuda()->close(lane);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_fails_in_turn),
        cmocka_unit_test(each_launch_fails_in_turn),
        cmocka_unit_test(each_copy_to_the_device_fails_in_turn),
        cmocka_unit_test(each_fill_fails_in_turn),
        cmocka_unit_test(a_lane_whose_pinned_memory_fails_does_not_open),
        cmocka_unit_test(a_device_that_is_not_there_does_not_open),
        cmocka_unit_test(a_lost_context_is_said_and_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
