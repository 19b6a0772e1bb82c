/* plan.options.stop: work ends early, as CANCELLED, whatever it is at. */
#include "tests/support/kernels/kernel_run.h"
#include "tests/support/kernels/tensors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const atomic_bool stop = true, go_on = false;

static void expect_cancelled(struct kernel_run *run)
{
    for (int threads = 1; threads <= 3; threads++) {
        run->threads = threads;
        run->split = (struct split){.threads = threads};
        run->level = level_best();
        run->stop = &stop;
        assert_int_equal(kernel_run_do(run), ERROR_CANCELLED);
        assert_string_equal(run->error.message, "the work was stopped before it was done");
        kernel_run_release(run);
        run->stop = &go_on;
        assert_int_equal(kernel_run_do(run), ERROR_NONE);
        kernel_run_release(run);
    }
}

static void every_operation_stops(void **state)
{
    (void)state;
    const struct tensor values = TENSOR(FP32, FLOATS(1, 2, 3, 4), 4);
    const struct tensor indices = TENSOR(INT32, INTS(0, 1), 2, 1),
                        two = TENSOR(FP32, FLOATS(1, 2), 2);
    const struct tensor pairs = TENSOR(INT32, INTS(0, 1), 2), shape = TENSOR(INT32, INTS(4), 1);
    const struct tensor number = TENSOR(INT32, INTS(4));
    struct kernel_run runs[] = {
        {.op = "tensor_scatter_add", .inputs = {values, indices, two}},
        {.op = "tensor_scatter_update", .inputs = {values, indices, two}},
        {.op = "scatter_nd", .inputs = {indices, two, shape}},
        {.op = "gather_nd", .inputs = {values, indices}},
        {.op = "sparse_segment_mean", .inputs = {values, pairs, pairs}},
        {.op = "gather", .inputs = {values, pairs}},
        {.op = "segment_min", .inputs = {two, pairs}},
        {.op = "unsorted_segment_sum", .inputs = {two, pairs, number}},
        {.op = "unsorted_segment_max", .inputs = {two, pairs, number}},
        {.op = "unsorted_segment_mean", .inputs = {two, pairs, number}},
    };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        expect_cancelled(&runs[i]);
}

static void many_rows_stop(void **state)
{
    (void)state;
    enum { N = 200000 };
    int32_t *indices = calloc(N * 2, sizeof *indices);
    int8_t *updates = calloc(N, 1);
    int8_t tensor[4] = {0};
    struct kernel_run run = {.op = "tensor_scatter_sub",
                             .inputs = {TENSOR(INT8, tensor, 2, 2), TENSOR(INT32, indices, N, 2),
                                        TENSOR(INT8, updates, N)}};
    expect_cancelled(&run);
    free(indices);
    free(updates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_stops),
        cmocka_unit_test(many_rows_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
