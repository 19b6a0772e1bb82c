/* What a request costs on the device, counted: launches, copies, fills and their bytes. The table
 * is the one of kernels/cuda/README.md. */
#include "kernels/dtype.h"
#include "tests/gpu/support/calls.h"
#include "tests/gpu/support/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 50, WIDTH = 4, UPDATES_MAX = 3000, VERDICT_BYTES = 56 };

static unsigned char table[ROWS * WIDTH * 8], updates[UPDATES_MAX * WIDTH * 8];
static int32_t indices[UPDATES_MAX], ids[UPDATES_MAX], shape[] = {ROWS, WIDTH};

struct cost {
    const char *op;
    enum dtype dtype;
    int count; /* of updates or pairs */
    bool duplicates;
    int launches, fills;
};

static struct tensor vector(int32_t *data, int64_t n)
{
    return (struct tensor){.dtype = DTYPE_INT32, .rank = 1, .shape = {n}, .data = data};
}

static struct kernel_run make(const struct cost *c)
{
    struct kernel_run run = {.op = c->op, .backend = backend_cuda(), .in_place = true};
    struct tensor t = {.dtype = c->dtype, .rank = 2, .shape = {ROWS, WIDTH}, .data = table};
    struct tensor u = {.dtype = c->dtype, .rank = 2, .shape = {c->count, WIDTH}, .data = updates};
    struct tensor i = {.dtype = DTYPE_INT32, .rank = 2, .shape = {c->count, 1}, .data = indices};
    for (int k = 0; k < c->count; k++) {
        indices[k] = c->duplicates ? k % 7 : k % ROWS;
        ids[k] = k / 3;
    }
    if (strncmp(c->op, "gather", 6) == 0) {
        run.inputs[0] = t;
        run.inputs[1] = strcmp(c->op, "gather") == 0 ? vector(indices, c->count) : i;
    } else if (strncmp(c->op, "segment", 7) == 0) {
        run.inputs[0] = u;
        run.inputs[1] = vector(ids, c->count);
    } else if (strncmp(c->op, "unsorted", 8) == 0) {
        run.inputs[0] = u;
        run.inputs[1] = vector(indices, c->count);
        run.inputs[2] = vector(shape, 1);
    } else if (strcmp(c->op, "scatter_nd") == 0) {
        run.inputs[0] = i;
        run.inputs[1] = u;
        run.inputs[2] = vector(shape, 2);
    } else if (strncmp(c->op, "sparse", 6) == 0) {
        run.inputs[0] = t;
        run.inputs[1] = vector(indices, c->count);
        run.inputs[2] = vector(ids, c->count);
    } else {
        run.inputs[0] = t;
        run.inputs[1] = i;
        run.inputs[2] = u;
    }
    return run;
}

/* The bytes of the inputs that hold elements; an input that says the output's shape is never copied
 * to the device. */
static size_t input_bytes(const struct plan *plan)
{
    size_t sum = 0, bytes;
    for (int i = 0; i < OP_INPUTS_MAX; i++) {
        if (plan->inputs[i].dtype == DTYPE_NONE || plan->inputs[i].data == NULL ||
            strcmp(plan->op->inputs[i], "shape") == 0 ||
            strcmp(plan->op->inputs[i], "num_segments") == 0)
            continue;
        assert_true(tensor_bytes(&plan->inputs[i], &bytes));
        sum += bytes;
    }
    return sum;
}

static void check(const struct cost *c)
{
    struct kernel_run run = make(c);
    compare_with_cpu(&run, backend_cuda(), NULL, "counted");
    calls_reset();
    assert_int_equal(kernel_run_do(&run), ERROR_NONE);
    print_message("%-24s %-5s %4d %-10s %d launches\n", c->op, dtype_name(c->dtype), c->count,
                  c->duplicates ? "duplicates" : "distinct", calls_counted(CALL_LAUNCH));
    assert_int_equal(calls_counted(CALL_LAUNCH), c->launches);
    assert_int_equal(calls_counted(CALL_FILL), c->fills);
    assert_int_equal(calls_bytes(CALL_UPLOAD), input_bytes(&run.plan));
    assert_int_equal(calls_bytes(CALL_DOWNLOAD), run.plan.output_bytes + VERDICT_BYTES);
    kernel_run_release(&run);
}

static void without_duplicates_two_launches(void **state)
{
    static const struct cost costs[] = {
        {"tensor_scatter_add", DTYPE_FP32, ROWS, false, 2, 1},
        {"tensor_scatter_max", DTYPE_BF16, ROWS, false, 2, 1},
        {"tensor_scatter_div", DTYPE_INT32, ROWS, false, 2, 1},
        {"tensor_scatter_update", DTYPE_C64, ROWS, false, 2, 1},
        {"scatter_nd", DTYPE_FP64, ROWS, false, 2, 2},
        {"unsorted_segment_sum", DTYPE_FP32, ROWS, false, 2, 2},
        {"unsorted_segment_max", DTYPE_INT8, ROWS, false, 3, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        check(&costs[i]);
}

static void where_order_does_not_matter_two_launches(void **state)
{
    static const struct cost costs[] = {
        {"scatter_nd", DTYPE_BOOL, 500, true, 2, 2},
        {"gather_nd", DTYPE_FP32, 500, true, 2, 1},
        {"sparse_segment_sum", DTYPE_INT8, 500, true, 2, 2},
        {"sparse_segment_mean", DTYPE_FP32, 500, true, 2, 2},
        {"gather", DTYPE_BF16, 500, true, 2, 1},
        {"segment_sum", DTYPE_FP16, 500, true, 2, 2},
        {"segment_prod", DTYPE_FP32, 500, true, 3, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        check(&costs[i]);
}

static void with_few_duplicates_one_launch_sorts(void **state)
{
    static const struct cost costs[] = {
        {"tensor_scatter_add", DTYPE_FP32, 1000, true, 3, 1},
        {"tensor_scatter_update", DTYPE_FP32, 1000, true, 3, 1},
        {"unsorted_segment_sum", DTYPE_FP32, 1000, true, 3, 2},
        {"unsorted_segment_min", DTYPE_FP32, 1000, true, 4, 1},
        {"unsorted_segment_mean", DTYPE_FP16, 1000, true, 3, 2},
        {"unsorted_segment_mean", DTYPE_FP32, ROWS, false, 3, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        check(&costs[i]);
}

/* Numbering the positions, and what cub::DeviceRadixSort takes for rows of 6 bits. */
static void with_many_duplicates_the_radix_sort_besides(void **state)
{
    static const struct cost cost = {"tensor_scatter_add", DTYPE_FP32, UPDATES_MAX, true, 4, 1};
    (void)state;
    check(&cost);
}

static void a_bad_index_costs_one_launch_and_no_answer(void **state)
{
    struct cost cost = {"tensor_scatter_add", DTYPE_FP32, ROWS, false, 1, 1};
    struct kernel_run run = make(&cost);
    (void)state;
    indices[3] = ROWS;
    calls_reset();
    assert_int_equal(kernel_run_do(&run), ERROR_INDEX_OUT_OF_BOUNDS);
    assert_int_equal(calls_counted(CALL_LAUNCH), 1);
    assert_int_equal(calls_bytes(CALL_DOWNLOAD), VERDICT_BYTES);
    kernel_run_release(&run);
}

int main(void)
{
    for (size_t i = 0; i < sizeof table; i++)
        table[i] = (unsigned char)(i % 23 + 1);
    for (size_t i = 0; i < sizeof updates; i++)
        updates[i] = (unsigned char)(i % 19 + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_duplicates_two_launches),
        cmocka_unit_test(where_order_does_not_matter_two_launches),
        cmocka_unit_test(with_few_duplicates_one_launch_sorts),
        cmocka_unit_test(with_many_duplicates_the_radix_sort_besides),
        cmocka_unit_test(a_bad_index_costs_one_launch_and_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
