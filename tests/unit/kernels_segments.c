/* gather, segment_* and unsorted_segment_*: what their plans are and what they refuse, in which
 * words. What they compute is in the golden and the random cases. */
#include "kernels/cpu/compute.h"
#include "tests/support/kernels/kernel_run.h"
#include "tests/support/kernels/reference.h"
#include "tests/support/kernels/tensors.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct kernel_run run;

static int teardown(void **state)
{
    (void)state;
    kernel_run_release(&run);
    return 0;
}

static enum error_code start(const char *op, struct tensor a, struct tensor b, struct tensor c)
{
    kernel_run_release(&run);
    run = (struct kernel_run){.op = op, .inputs = {a, b, c}};
    return kernel_run_do(&run);
}

static const struct tensor none = {0};

#define EXPECT_ERROR(started, CODE, name, sentence)                                                \
    do {                                                                                           \
        assert_int_equal(started, ERROR_##CODE);                                                   \
        assert_string_equal(run.error.input ? run.error.input : "", name);                         \
        assert_string_equal(run.error.message, sentence);                                          \
    } while (0)

#define EXPECT_DATA(t, T, ...)                                                                     \
    do {                                                                                           \
        const T expected[] = {__VA_ARGS__};                                                        \
        assert_memory_equal((t).data, expected, sizeof expected);                                  \
    } while (0)

/* -------------------------------------------------------------------------------- gather */

static void gather_takes_indices_of_any_rank(void **state)
{
    (void)state;
    const struct tensor params = TENSOR(FP32, FLOATS(1, 2, 3, 4, 5, 6), 3, 2);
    assert_int_equal(start("gather", params, TENSOR(INT32, INTS(2, 0, 1, 1), 2, 2, 1), none),
                     ERROR_NONE);
    EXPECT_SHAPE(run.plan.output, 2, 2, 1, 2);
    EXPECT_DATA(run.plan.output, float, 5, 6, 1, 2, 3, 4, 3, 4);
    assert_int_equal(start("gather", params, TENSOR(INT64, LONGS(1)), none), ERROR_NONE);
    EXPECT_SHAPE(run.plan.output, 2);
    EXPECT_DATA(run.plan.output, float, 3, 4);
}

static void gather_says_which_index_is_bad(void **state)
{
    (void)state;
    const struct tensor params = TENSOR(FP32, FLOATS(1, 2, 3, 4, 5, 6), 3, 2);
    EXPECT_ERROR(start("gather", params, TENSOR(INT32, INTS(2, 0, -1, 3), 2, 2), none),
                 INDEX_OUT_OF_BOUNDS, "indices",
                 "indices[1, 0] = -1 is out of bounds for shape [3, 2] of params (axis 0: -1 is "
                 "not in [0, 3))");
    assert_int_equal(run.error.invalid_count, 2);
    assert_int_equal(run.error.faults[0].position_rank, 2);
    assert_int_equal(run.error.faults[1].index[0], 3);
    assert_int_equal(run.error.bound_rank, 1);
    EXPECT_ERROR(start("gather", params, TENSOR(INT32, INTS(7)), none), INDEX_OUT_OF_BOUNDS,
                 "indices",
                 "indices = 7 is out of bounds for shape [3, 2] of params (axis 0: 7 is not in "
                 "[0, 3))");
    assert_int_equal(run.error.faults[0].position_rank, 0);
    assert_int_equal(
        start("gather", TENSOR(FP32, FLOATS(0), 3, 0), TENSOR(INT32, INTS(3), 1), none),
        ERROR_INDEX_OUT_OF_BOUNDS);
}

static void gather_refuses_numbers_and_too_many_dimensions(void **state)
{
    (void)state;
    EXPECT_ERROR(start("Gather", TENSOR(FP32, FLOATS(1)), TENSOR(INT32, INTS(0), 1), none),
                 SHAPE_MISMATCH, "params", "params has shape []; it needs rank 1 or more");
    EXPECT_ERROR(start("GatherV2", TENSOR(FP32, FLOATS(1), 1, 1, 1, 1, 1, 1, 1, 1, 1),
                       TENSOR(INT32, INTS(0), 1, 1, 1, 1, 1, 1, 1, 1, 1), none),
                 SHAPE_MISMATCH, "output", "output has rank 17; at most 16 is possible");
}

/* ------------------------------------------------------------------------------- sorted ids */

static const struct tensor rows = TENSOR(FP32, FLOATS(1, 2, 3, 4, 5, 6), 3, 2);

static void sorted_segments_end_with_the_last_id(void **state)
{
    (void)state;
    assert_int_equal(start("segment_sum", rows, TENSOR(INT64, LONGS(1, 1, 3), 3), none),
                     ERROR_NONE);
    EXPECT_SHAPE(run.plan.output, 4, 2);
    EXPECT_DATA(run.plan.output, float, 0, 0, 4, 6, 0, 0, 5, 6);
    assert_int_equal(
        start("segment_prod", TENSOR(FP32, FLOATS(0), 0, 2), TENSOR(INT32, INTS(0), 0), none),
        ERROR_NONE);
    EXPECT_SHAPE(run.plan.output, 0, 2);
}

static void sorted_segments_explain_what_they_refuse(void **state)
{
    (void)state;
    EXPECT_ERROR(start("segment_max", TENSOR(FP32, FLOATS(1)), TENSOR(INT32, INTS(0), 1), none),
                 SHAPE_MISMATCH, "data", "data has shape []; it needs rank 1 or more");
    EXPECT_ERROR(start("segment_max", rows, TENSOR(INT32, INTS(0, 0, 0), 3, 1), none),
                 SHAPE_MISMATCH, "segment_ids",
                 "segment_ids has shape [3, 1]; it must be a vector");
    EXPECT_ERROR(start("segment_max", rows, TENSOR(INT32, INTS(0, 2, 1), 3), none),
                 SEGMENT_IDS_NOT_SORTED, "segment_ids",
                 "segment_ids[2] = 1 is below segment_ids[1] = 2: segment ids must not decrease");
    EXPECT_ERROR(start("segment_max", rows, TENSOR(INT32, INTS(-4, -4, 0), 3), none),
                 SEGMENT_ID_OUT_OF_RANGE, "segment_ids",
                 "segment_ids[0] = -4 must not be negative");
    assert_int_equal(run.error.bound_rank, 0);
    assert_int_equal(run.error.faults[0].position_rank, 1);
    EXPECT_ERROR(start("segment_mean", TENSOR(INT32, INTS(1), 1), TENSOR(INT32, INTS(0), 1), none),
                 UNSUPPORTED_DTYPE, "data",
                 "data is INT32; segment_mean accepts FP16, BF16, FP32, FP64");
}

/* ------------------------------------------------------------------------- ids in any order */

static void unsorted_ids_are_the_first_dimensions(void **state)
{
    (void)state;
    const struct tensor two = TENSOR(INT32, INTS(2), 1);
    assert_int_equal(
        start("unsorted_segment_sum", rows, TENSOR(INT64, LONGS(0, 1, 0, -7, 1, 1), 3, 2), two),
        ERROR_NONE);
    EXPECT_SHAPE(run.plan.output, 2);
    EXPECT_DATA(run.plan.output, float, 4, 13);
    assert_int_equal(run.plan.ignored, 0);
    assert_int_equal(start("unsorted_segment_min", rows, TENSOR(INT64, LONGS(1)), two), ERROR_NONE);
    EXPECT_SHAPE(run.plan.output, 2, 3, 2);
    EXPECT_ERROR(start("unsorted_segment_sum", rows, TENSOR(INT32, INTS(0, 0), 2), two),
                 SHAPE_MISMATCH, "segment_ids",
                 "segment_ids has shape [2]; it must be the first dimensions of data, which has "
                 "shape [3, 2]");
    assert_int_equal(
        start("unsorted_segment_sum", TENSOR(FP32, FLOATS(1)), TENSOR(INT32, INTS(0), 1), two),
        ERROR_SHAPE_MISMATCH);
}

static void num_segments_is_checked_after_all_shapes(void **state)
{
    (void)state;
    const struct tensor ids = TENSOR(INT32, INTS(0, 0, 0), 3), bad = TENSOR(INT32, INTS(0), 1);
    const struct tensor negative = TENSOR(INT32, INTS(-1));
    EXPECT_ERROR(start("unsorted_segment_max", rows, ids, none), MISSING_INPUT, "num_segments",
                 "unsorted_segment_max needs the input num_segments");
    EXPECT_ERROR(start("unsorted_segment_max", rows, ids, TENSOR(INT32, INTS(1, 1), 2)),
                 SHAPE_MISMATCH, "num_segments",
                 "num_segments has shape [2]; it must be one number, of shape [] or [1]");
    EXPECT_ERROR(start("unsorted_segment_max", rows, ids, negative), VALUE_OUT_OF_RANGE,
                 "num_segments", "num_segments is -1; it must not be negative");
    assert_int_equal(start("unsorted_segment_max", rows, bad, negative), ERROR_SHAPE_MISMATCH);
    struct tensor deep = {.dtype = DTYPE_FP32, .rank = RANK_MAX, .data = FLOATS(1)};
    for (int i = 0; i < RANK_MAX; i++)
        deep.shape[i] = 1;
    EXPECT_ERROR(start("unsorted_segment_max", deep, TENSOR(INT32, INTS(0)), negative),
                 SHAPE_MISMATCH, "output", "output has rank 17; at most 16 is possible");
}

static void an_id_beyond_is_told_by_its_place(void **state)
{
    (void)state;
    const struct tensor two = TENSOR(INT32, INTS(2));
    EXPECT_ERROR(
        start("unsorted_segment_mean", rows, TENSOR(INT32, INTS(0, -1, 1, 2, 9, 0), 3, 2), two),
        SEGMENT_ID_OUT_OF_RANGE, "segment_ids", "segment_ids[1, 1] = 2 must be < num_segments = 2");
    assert_int_equal(run.error.faults[0].position_rank, 2);
    assert_int_equal(run.error.faults[0].index[0], 2);
    assert_int_equal(run.error.bound_rank, 1);
    assert_int_equal(run.error.bound[0], 2);
    EXPECT_ERROR(start("unsorted_segment_mean", rows, TENSOR(INT64, LONGS(INT64_MAX)), two),
                 SEGMENT_ID_OUT_OF_RANGE, "segment_ids",
                 "segment_ids = 9223372036854775807 must be < num_segments = 2");
    assert_int_equal(run.error.faults[0].position_rank, 0);
    assert_int_equal(start("unsorted_segment_prod", TENSOR(FP32, FLOATS(0), 1, 0),
                           TENSOR(INT32, INTS(2), 1), two),
                     ERROR_SEGMENT_ID_OUT_OF_RANGE);
    assert_int_equal(start("unsorted_segment_sum", TENSOR(FP32, FLOATS(1), 1),
                           TENSOR(INT32, INTS(0), 1), TENSOR(INT32, INTS(0))),
                     ERROR_SEGMENT_ID_OUT_OF_RANGE);
}

static void no_policy_lets_an_id_pass(void **state)
{
    (void)state;
    run = (struct kernel_run){
        .op = "unsorted_segment_sum",
        .inputs = {rows, TENSOR(INT32, INTS(0, 2, 0), 3), TENSOR(INT32, INTS(2))},
        .ignore_bad = true};
    assert_int_equal(kernel_run_do(&run), ERROR_SEGMENT_ID_OUT_OF_RANGE);
}

/* Ids may be those of a kept tensor, which the operation must not change. */
static void ids_stay_as_they_are(void **state)
{
    (void)state;
    static const char *const ops[] = {"unsorted_segment_sum", "unsorted_segment_min",
                                      "unsorted_segment_sqrt_n"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            start(ops[i], rows, TENSOR(INT32, INTS(1, -5, 0), 3), TENSOR(INT32, INTS(2))),
            ERROR_NONE);
        EXPECT_DATA(run.plan.inputs[1], int32_t, 1, -5, 0);
    }
}

/* The least id is so far below zero that subtracting a thread's first row from it would wrap: no
 * thread may take it for a row of its own. */
static void the_least_id_drops_its_row(void **state)
{
    (void)state;
    static const char *const ops[] = {"unsorted_segment_sum", "unsorted_segment_min",
                                      "unsorted_segment_mean"};
    for (int i = 0; i < 3; i++) {
        run = (struct kernel_run){
            .op = ops[i],
            .inputs = {rows, TENSOR(INT64, LONGS(2, INT64_MIN, 1), 3), TENSOR(INT64, LONGS(3))},
            .level = level_best(),
            .split = {.threads = 3},
            .threads = 3};
        assert_int_equal(kernel_run_do(&run), ERROR_NONE);
        assert_memory_equal((float *)run.plan.output.data + 2, ((float[]){5, 6, 1, 2}), 16);
        kernel_run_release(&run);
    }
}

/* An output that is too large is refused before an id is read. */
static void sizes_come_before_ids(void **state)
{
    (void)state;
    run = (struct kernel_run){
        .op = "unsorted_segment_sum",
        .limit = 80,
        .inputs = {rows, TENSOR(INT32, INTS(77, 77, 77), 3), TENSOR(INT32, INTS(11))}};
    EXPECT_ERROR(kernel_run_do(&run), OUTPUT_TOO_LARGE, "",
                 "output of shape [11, 2] has 88 bytes; at most 80 are allowed (max_output)");
    kernel_run_release(&run);
    run.inputs[2] = TENSOR(INT32, INTS(10));
    assert_int_equal(kernel_run_do(&run), ERROR_SEGMENT_ID_OUT_OF_RANGE);
}

/* --------------------------------------------------------------------------------- kernels */

enum { STRAY_ROWS = 3000, STRAY_SEGMENTS = 40, STRAY_WIDTH_MAX = 33 };

/* Finite numbers, among them both zeros and the ends of the type. */
static void fill_finite(float *values, int count)
{
    static const float some[] = {0.0f, -0.0f, FLT_MAX, -FLT_MAX, 1.5f, -2.5f, 0x1p-149f};
    for (int i = 0; i < count; i++)
        values[i] = some[i * 31 % 1009 % 7];
}

static void expect_reference(const struct split *split)
{
    struct reference expected;
    run.level = level_best();
    run.split = *split;
    run.threads = split->threads;
    reference_run(&expected, run.op, run.inputs, false);
    assert_int_equal(kernel_run_do(&run), ERROR_NONE);
    assert_memory_equal(run.plan.output.data, expected.output.data, run.plan.output_bytes);
    kernel_run_release(&run);
    reference_release(&expected);
}

/* A segment of finite numbers may start from the end of the type; one that has a NaN or an infinity
 * may not, wherever in the request that comes. */
static void the_first_of_a_segment_counts_wherever_it_is(void **state)
{
    static const char *const ops[] = {"unsorted_segment_min", "unsorted_segment_max"};
    static const struct split splits[] = {{.threads = 1}, {.threads = 3}, {2, true, false}};
    static const int widths[] = {1, 4, STRAY_WIDTH_MAX}, places[] = {-1, 0, 511, STRAY_ROWS - 1};
    static const float strays[] = {NAN, INFINITY, -INFINITY};
    static float values[STRAY_ROWS * STRAY_WIDTH_MAX];
    static int32_t ids[STRAY_ROWS];
    (void)state;
    for (int k = 0; k < STRAY_ROWS; k++) /* of the last segment only the last row */
        ids[k] = k == STRAY_ROWS - 1 ? STRAY_SEGMENTS - 1 : k * 17 % (STRAY_SEGMENTS - 1);
    for (int i = 0; i < 2 * 3 * 3 * 4 * 3; i++) {
        int width = widths[i / 6 % 3], place = places[i / 18 % 4];
        fill_finite(values, STRAY_ROWS * width);
        if (place >= 0)
            values[place * width + width - 1] = strays[i / 72];
        run = (struct kernel_run){.op = ops[i % 2],
                                  .inputs = {TENSOR(FP32, values, STRAY_ROWS, width),
                                             TENSOR(INT32, ids, STRAY_ROWS),
                                             TENSOR(INT32, INTS(STRAY_SEGMENTS))}};
        expect_reference(&splits[i / 2 % 3]);
    }
}

/* A row that a scatter cannot do right has no kernel, so that the self-test refuses to start. */
static void an_unsorted_difference_has_no_kernel(void **state)
{
    (void)state;
    const struct tensor ids = TENSOR(INT32, INTS(0, 0, 0), 3);
    struct op_name found;
    assert_int_equal(start("unsorted_segment_max", rows, ids, TENSOR(INT32, INTS(1))), ERROR_NONE);
    struct kernel_key key = plan_kernel_key(&run.plan, DTYPE_FP32);
    assert_true(key.from_first);
    assert_true(compute_has_kernel(level_best(), &key));
    assert_true(op_find("unsorted_segment_max", 20, &found));
    struct op row = *found.op;
    row.combine = COMBINE_SUB;
    kernel_run_release(&run);
    run.row = &row;
    assert_int_equal(kernel_run_do(&run), ERROR_NONE);
    key = plan_kernel_key(&run.plan, DTYPE_FP32);
    assert_false(compute_has_kernel(level_best(), &key));
    row.combine = COMBINE_MAX;
    row.finish = FINISH_MEAN;
    key = plan_kernel_key(&run.plan, DTYPE_FP32);
    assert_false(compute_has_kernel(level_best(), &key));
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gather_takes_indices_of_any_rank),
        TEST(gather_says_which_index_is_bad),
        TEST(gather_refuses_numbers_and_too_many_dimensions),
        TEST(sorted_segments_end_with_the_last_id),
        TEST(sorted_segments_explain_what_they_refuse),
        TEST(unsorted_ids_are_the_first_dimensions),
        TEST(num_segments_is_checked_after_all_shapes),
        TEST(an_id_beyond_is_told_by_its_place),
        TEST(no_policy_lets_an_id_pass),
        TEST(ids_stay_as_they_are),
        TEST(the_least_id_drops_its_row),
        TEST(sizes_come_before_ids),
        TEST(the_first_of_a_segment_counts_wherever_it_is),
        TEST(an_unsorted_difference_has_no_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
