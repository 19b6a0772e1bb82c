/* Sparse tensors beyond 2^31 elements and 4 GiB: address space is reserved, and only the pages that
 * are touched are memory. Scatters run in place, as one that starts from zeros writes all pages. */
#include "kernels/cpu/compute.h"
#include "tests/support/kernels/tensors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static const int64_t five_gib = INT64_C(5) << 30;

static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Runs in place on `tensor`, or into `out`. Threads share rows: no thread walks what it does not
 * touch. */
static void run(const char *op, struct tensor *inputs, void *out, int threads)
{
    struct op_name name;
    struct plan plan;
    struct error error;
    struct plan_options options = {.output_limit = SIZE_MAX, .threads = threads};
    struct split split = {.threads = threads};
    assert_true(op_find(op, strlen(op), &name));
    assert_int_equal(plan_make(&plan, &name, inputs, &options, &error), ERROR_NONE);
    plan.output.data = out;
    plan.scratch = aligned_alloc(TENSOR_ALIGNMENT, plan.scratch_bytes + TENSOR_ALIGNMENT);
    assert_int_equal(compute_run(&plan, level_best(), &split, &error), ERROR_NONE);
    free(plan.scratch);
}

/* The bytes at `places` are `values`, and those in front of them 0. */
static void expect_bytes(const int8_t *data, const int64_t *places, const int8_t *values, int count)
{
    for (int i = 0; i < count; i++) {
        assert_int_equal(data[places[i]], values[i]);
        if (places[i] > 0)
            assert_int_equal(data[places[i] - 1], 0);
    }
}

static void elements_beyond_four_gib(void **state)
{
    (void)state;
    int8_t *data = reserve((size_t)five_gib);
    if (!data)
        skip();
    int64_t places[] = {0, INT64_C(1) << 31, (INT64_C(1) << 32) + 7, five_gib - 1};
    int8_t updates[] = {1, 2, 3, 4}, doubled[] = {2, 4, 6, 8};
    for (int threads = 1; threads <= 3; threads += 2) {
        struct tensor inputs[OP_INPUTS_MAX] = {
            TENSOR(INT8, data, five_gib), TENSOR(INT64, places, 4, 1), TENSOR(INT8, updates, 4)};
        run("tensor_scatter_add", inputs, data, threads);
        expect_bytes(data, places, threads == 1 ? updates : doubled, 4);
    }
    munmap(data, (size_t)five_gib);
}

/* Tuples of 32-bit components whose row number takes 64 bits. */
static void narrow_tuples_address_wide_rows(void **state)
{
    (void)state;
    int8_t *data = reserve((size_t)five_gib);
    if (!data)
        skip();
    int32_t tuples[] = {0, 0, 5119, 1048575, 2048, 0, 4096, 3};
    int64_t places[] = {0, five_gib - 1, INT64_C(1) << 31, (INT64_C(1) << 32) + 3};
    int8_t updates[] = {1, 2, 3, 4};
    for (int threads = 1; threads <= 2; threads++) {
        struct tensor inputs[OP_INPUTS_MAX] = {TENSOR(INT8, data, 5120, 1048576),
                                               TENSOR(INT32, tuples, 4, 2),
                                               TENSOR(INT8, updates, 4)};
        run("tensor_scatter_update", inputs, data, threads);
        expect_bytes(data, places, updates, 4);
    }
    munmap(data, (size_t)five_gib);
}

/* A row's first byte lies beyond 4 GiB though its number is small. */
static void wide_rows_beyond_four_gib(void **state)
{
    (void)state;
    int64_t width = INT64_C(1) << 20;
    float *data = reserve((size_t)five_gib), *updates = calloc((size_t)width, sizeof *updates);
    if (!data || !updates)
        skip();
    updates[width - 1] = 1.5f;
    int32_t row[] = {1279};
    struct tensor inputs[OP_INPUTS_MAX] = {
        TENSOR(FP32, data, 1280, width), TENSOR(INT32, row, 1, 1), TENSOR(FP32, updates, 1, width)};
    run("tensor_scatter_sub", inputs, data, 1);
    assert_true(data[1280 * width - 1] == -1.5f);
    assert_true(data[1279 * width - 1] == 0);
    munmap(data, (size_t)five_gib);
    free(updates);
}

static void gather_from_beyond_four_gib(void **state)
{
    (void)state;
    int8_t *data = reserve((size_t)five_gib), out[3];
    if (!data)
        skip();
    data[five_gib - 1] = 7;
    data[INT64_C(1) << 32] = 8;
    int64_t indices[] = {five_gib - 1, 0, INT64_C(1) << 32};
    struct tensor inputs[OP_INPUTS_MAX] = {TENSOR(INT8, data, five_gib),
                                           TENSOR(INT64, indices, 3, 1)};
    run("gather_nd", inputs, out, 2);
    assert_memory_equal(out, "\7\0\10", 3);
    munmap(data, (size_t)five_gib);
}

static void segments_of_a_huge_table(void **state)
{
    (void)state;
    uint16_t *data = reserve((size_t)five_gib), out[2];
    if (!data)
        skip();
    int64_t rows = five_gib / 2, indices[] = {rows - 1, rows - 2, 0};
    int32_t ids[] = {0, 0, 1};
    data[rows - 1] = 3;
    data[rows - 2] = 4;
    struct tensor inputs[OP_INPUTS_MAX] = {TENSOR(UINT16, data, rows), TENSOR(INT64, indices, 3),
                                           TENSOR(INT32, ids, 3)};
    run("sparse_segment_sum", inputs, out, 1);
    assert_int_equal(out[0], 7);
    assert_int_equal(out[1], 0);
    munmap(data, (size_t)five_gib);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_beyond_four_gib),
        cmocka_unit_test(narrow_tuples_address_wide_rows),
        cmocka_unit_test(wide_rows_beyond_four_gib),
        cmocka_unit_test(gather_from_beyond_four_gib),
        cmocka_unit_test(segments_of_a_huge_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
