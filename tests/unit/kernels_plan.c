#include "kernels/plan.h"
#include "tests/support/kernels/tensors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct plan plan;
static struct error error;
static struct plan_options options;

static int setup(void **state)
{
    (void)state;
    options = (struct plan_options){.output_limit = 1 << 30, .threads = 1};
    error_clear(&error);
    return 0;
}

static enum error_code make(const char *op, struct tensor a, struct tensor b, struct tensor c,
                            struct tensor d)
{
    struct tensor inputs[OP_INPUTS_MAX] = {a, b, c, d};
    struct op_name name;
    assert_true(op_find(op, strlen(op), &name));
    return plan_make(&plan, &name, inputs, &options, &error);
}

static const struct tensor none = {0};

#define EXPECT_ERROR(made, CODE, name, sentence)                                                   \
    do {                                                                                           \
        assert_int_equal(made, ERROR_##CODE);                                                      \
        assert_int_equal(error.code, ERROR_##CODE);                                                \
        assert_string_equal(error.input ? error.input : "", name);                                 \
        assert_string_equal(error.message, sentence);                                              \
    } while (0)

/* ------------------------------------------------------------------------------ what it makes */

static void scatter_addresses_the_first_dimensions(void **state)
{
    (void)state;
    assert_int_equal(make("tensor_scatter_add", TENSOR(FP32, NULL, 5, 6, 7),
                          TENSOR(INT32, NULL, 4, 3, 2), TENSOR(FP32, NULL, 4, 3, 7), none),
                     ERROR_NONE);
    assert_int_equal(plan.rows.count, 12);
    assert_int_equal(plan.rows.depth, 2);
    assert_int_equal(plan.rows.width, 7);
    assert_int_equal(plan.rows.limit, 30);
    assert_int_equal(plan.rows.bound[0], 5);
    assert_int_equal(plan.rows.bound[1], 6);
    assert_ptr_equal(plan.start, &plan.inputs[0]);
    assert_ptr_equal(plan.indices, &plan.inputs[1]);
    assert_ptr_equal(plan.values, &plan.inputs[2]);
    EXPECT_SHAPE(plan.output, 5, 6, 7);
    assert_int_equal(plan.output_bytes, 5 * 6 * 7 * 4);
    assert_int_equal(plan_in_place_input(&plan), 0);
}

static void scatter_nd_reads_its_shape(void **state)
{
    (void)state;
    assert_int_equal(make("scatter_nd", TENSOR(INT32, NULL, 4, 1), TENSOR(INT16, NULL, 4, 3),
                          TENSOR(INT64, LONGS(8, 3), 2), none),
                     ERROR_NONE);
    EXPECT_SHAPE(plan.output, 8, 3);
    assert_int_equal(plan.output.dtype, DTYPE_INT16);
    assert_null(plan.start);
    assert_int_equal(plan.combine, COMBINE_ADD);
    assert_int_equal(plan_in_place_input(&plan), -1);
}

static void combine_depends_on_the_type(void **state)
{
    (void)state;
    const struct tensor indices = TENSOR(INT32, NULL, 4, 1), shape = TENSOR(INT32, INTS(8), 1);
    assert_int_equal(make("scatter_nd", indices, TENSOR(BOOL, NULL, 4), shape, none), ERROR_NONE);
    assert_int_equal(plan.combine, COMBINE_OR);
    struct span spans[4] = {SPAN("a"), SPAN("bc"), SPAN(""), SPAN("def")};
    assert_int_equal(make("scatter_nd", indices, TENSOR(BYTES, spans, 4), shape, none), ERROR_NONE);
    assert_int_equal(plan.combine, COMBINE_CONCAT);
    assert_true(plan.scratch_bytes >= 6);
}

static void complex_is_floats_of_twice_the_width(void **state)
{
    (void)state;
    assert_int_equal(make("tensor_scatter_sub", TENSOR(C64, NULL, 5, 3), TENSOR(INT32, NULL, 2, 1),
                          TENSOR(C64, NULL, 2, 3), none),
                     ERROR_NONE);
    assert_int_equal(plan.dtype, DTYPE_FP32);
    assert_int_equal(plan.rows.width, 6);
    assert_int_equal(plan.output.dtype, DTYPE_C64);
    assert_int_equal(plan.output_bytes, 5 * 3 * 8);
    assert_int_equal(make("scatter_nd", TENSOR(INT32, NULL, 2, 1), TENSOR(C128, NULL, 2),
                          TENSOR(INT32, INTS(4), 1), none),
                     ERROR_NONE);
    assert_int_equal(plan.dtype, DTYPE_FP64);
    assert_int_equal(plan.rows.width, 2);
}

static void gather_joins_outer_and_inner_dimensions(void **state)
{
    (void)state;
    assert_int_equal(
        make("gather_nd", TENSOR(FP32, NULL, 5, 6, 7), TENSOR(INT64, NULL, 4, 3, 1), none, none),
        ERROR_NONE);
    EXPECT_SHAPE(plan.output, 4, 3, 6, 7);
    assert_int_equal(plan.rows.width, 42);
    assert_int_equal(
        make("gather_nd", TENSOR(FP32, NULL, 5, 6), TENSOR(INT64, NULL, 2), none, none),
        ERROR_NONE);
    assert_int_equal(plan.output.rank, 0);
    assert_int_equal(plan.rows.count, 1);
}

static void segments_follow_the_last_id(void **state)
{
    (void)state;
    const struct tensor data = TENSOR(FP32, NULL, 5, 6), indices = TENSOR(INT32, NULL, 3);
    assert_int_equal(
        make("sparse_segment_sum", data, indices, TENSOR(INT64, LONGS(0, 1, 4), 3), none),
        ERROR_NONE);
    EXPECT_SHAPE(plan.output, 5, 6);
    assert_int_equal(
        make("sparse_segment_sum", data, indices, TENSOR(INT64, LONGS(0, 1, -7), 3), none),
        ERROR_NONE);
    EXPECT_SHAPE(plan.output, 0, 6);
    assert_int_equal(
        make("sparse_segment_sum", data, TENSOR(INT32, NULL, 0), TENSOR(INT32, NULL, 0), none),
        ERROR_NONE);
    EXPECT_SHAPE(plan.output, 0, 6);
    assert_int_equal(make("sparse_segment_sum", data, indices, TENSOR(INT64, LONGS(0, 1, 4), 3),
                          TENSOR(INT32, INTS(9))),
                     ERROR_NONE);
    EXPECT_SHAPE(plan.output, 9, 6);
}

/* ------------------------------------------------------------------------------- refusals */

static void missing_inputs_are_named(void **state)
{
    (void)state;
    EXPECT_ERROR(make("tensor_scatter_add", TENSOR(FP32, NULL, 5), none, none, none), MISSING_INPUT,
                 "indices", "tensor_scatter_add needs the input indices");
    EXPECT_ERROR(make("SparseSegmentSumWithNumSegments", TENSOR(FP32, NULL, 5),
                      TENSOR(INT32, NULL, 0), TENSOR(INT32, NULL, 0), none),
                 MISSING_INPUT, "num_segments",
                 "SparseSegmentSumWithNumSegments needs the input num_segments");
}

static void types_are_listed(void **state)
{
    (void)state;
    EXPECT_ERROR(make("sparse_segment_mean", TENSOR(INT32, NULL, 5), TENSOR(INT32, NULL, 0),
                      TENSOR(INT32, NULL, 0), none),
                 UNSUPPORTED_DTYPE, "data",
                 "data is INT32; sparse_segment_mean accepts FP16, BF16, FP32, FP64");
    EXPECT_ERROR(make("ScatterNd", TENSOR(FP32, NULL, 1, 1), TENSOR(FP32, NULL, 1),
                      TENSOR(INT32, INTS(1), 1), none),
                 UNSUPPORTED_DTYPE, "indices", "indices is FP32; ScatterNd accepts INT32, INT64");
    EXPECT_ERROR(make("tensor_scatter_add", TENSOR(FP32, NULL, 5), TENSOR(INT32, NULL, 1, 1),
                      TENSOR(FP64, NULL, 1), none),
                 UNSUPPORTED_DTYPE, "updates",
                 "updates is FP64 but tensor is FP32: their types must be equal");
}

static void types_come_before_shapes(void **state)
{
    (void)state;
    assert_int_equal(make("tensor_scatter_add", TENSOR(BOOL, NULL), TENSOR(INT32, NULL, 3),
                          TENSOR(BOOL, NULL), none),
                     ERROR_UNSUPPORTED_DTYPE);
}

static void scatter_shapes_are_explained(void **state)
{
    (void)state;
    const struct tensor tensor = TENSOR(FP32, NULL, 5, 6);
    EXPECT_ERROR(
        make("tensor_scatter_add", tensor, TENSOR(INT32, NULL, 3), TENSOR(FP32, NULL, 3), none),
        SHAPE_MISMATCH, "indices",
        "indices has shape [3]; it needs rank 2 or more, one tuple for each row, like "
        "[[1],[3]]");
    EXPECT_ERROR(
        make("tensor_scatter_add", tensor, TENSOR(INT32, NULL, 4, 3), TENSOR(FP32, NULL, 4), none),
        SHAPE_MISMATCH, "indices",
        "the last dimension of indices is 3; it must be 1 to 2, the rank of tensor");
    EXPECT_ERROR(make("tensor_scatter_add", TENSOR(FP32, NULL, 5), TENSOR(INT32, NULL, 4, 0),
                      TENSOR(FP32, NULL, 4), none),
                 SHAPE_MISMATCH, "indices",
                 "the last dimension of indices is 0; it must be 1, the rank of tensor");
    EXPECT_ERROR(make("tensor_scatter_add", tensor, TENSOR(INT32, NULL, 4, 1),
                      TENSOR(FP32, NULL, 4, 5), none),
                 SHAPE_MISMATCH, "updates",
                 "updates has shape [4, 5]; it must be [4, 6]: [4], the rows of indices, then [6], "
                 "the shape of a row of tensor");
    EXPECT_ERROR(make("tensor_scatter_add", TENSOR(FP32, NULL), TENSOR(INT32, NULL, 1, 1),
                      TENSOR(FP32, NULL, 1), none),
                 SHAPE_MISMATCH, "tensor", "tensor has shape []; it needs rank 1 or more");
}

static void scatter_nd_shape_is_explained(void **state)
{
    (void)state;
    const struct tensor indices = TENSOR(INT32, NULL, 1, 1), updates = TENSOR(FP32, NULL, 1);
    EXPECT_ERROR(make("scatter_nd", indices, updates, TENSOR(INT32, INTS(5)), none), SHAPE_MISMATCH,
                 "shape", "shape has shape []; it must be a vector of 1 to 16 dimensions");
    EXPECT_ERROR(make("scatter_nd", indices, updates, TENSOR(INT32, INTS(4, -1), 2), none),
                 VALUE_OUT_OF_RANGE, "shape", "shape[1] is -1; a dimension must not be negative");
    EXPECT_ERROR(make("scatter_nd", indices, updates, TENSOR(INT64, LONGS(9, 2), 2), none),
                 SHAPE_MISMATCH, "updates",
                 "updates has shape [1]; it must be [1, 2]: [1], the rows of indices, then [2], "
                 "the shape of a row of output");
}

static void gather_shapes_are_explained(void **state)
{
    (void)state;
    EXPECT_ERROR(make("gather_nd", TENSOR(FP32, NULL, 5), TENSOR(INT32, NULL), none, none),
                 SHAPE_MISMATCH, "indices", "indices has shape []; it needs rank 1 or more");
    EXPECT_ERROR(make("gather_nd", TENSOR(FP32, NULL, 5), TENSOR(INT32, NULL, 3, 2), none, none),
                 SHAPE_MISMATCH, "indices",
                 "the last dimension of indices is 2; it must be 0 to 1, the rank of params");
    EXPECT_ERROR(make("gather_nd", TENSOR(FP32, NULL), TENSOR(INT32, NULL, 3, 1), none, none),
                 SHAPE_MISMATCH, "indices",
                 "the last dimension of indices is 1; it must be 0, the rank of params");
    EXPECT_ERROR(make("gather_nd", TENSOR(FP32, NULL, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
                      TENSOR(INT32, NULL, 1, 1, 1, 1, 1, 1, 1, 1, 1), none, none),
                 SHAPE_MISMATCH, "output", "output has rank 17; at most 16 is possible");
}

static void segment_shapes_are_explained(void **state)
{
    (void)state;
    const struct tensor data = TENSOR(FP32, NULL, 5), two = TENSOR(INT32, NULL, 2);
    const struct tensor ids = TENSOR(INT32, INTS(0, 0), 2);
    EXPECT_ERROR(make("sparse_segment_sum", TENSOR(FP32, NULL), two, ids, none), SHAPE_MISMATCH,
                 "data", "data has shape []; it needs rank 1 or more");
    EXPECT_ERROR(make("sparse_segment_sum", data, TENSOR(INT32, NULL, 2, 1), ids, none),
                 SHAPE_MISMATCH, "indices", "indices has shape [2, 1]; it must be a vector");
    EXPECT_ERROR(make("sparse_segment_sum", data, TENSOR(INT32, NULL, 3), ids, none),
                 SHAPE_MISMATCH, "segment_ids",
                 "segment_ids has shape [2]; it must be [3], a segment for each index");
    EXPECT_ERROR(make("sparse_segment_sum", data, two, ids, TENSOR(INT32, INTS(1, 1), 2)),
                 SHAPE_MISMATCH, "num_segments",
                 "num_segments has shape [2]; it must be one number, of shape [] or [1]");
    EXPECT_ERROR(make("sparse_segment_sum", data, two, ids, TENSOR(INT32, INTS(-1))),
                 VALUE_OUT_OF_RANGE, "num_segments", "num_segments is -1; it must not be negative");
    EXPECT_ERROR(make("segment_sum", data, two, none, none), SHAPE_MISMATCH, "segment_ids",
                 "segment_ids has shape [2]; it must be [5], a segment for each row of data");
}

static void ranks_and_dimensions_are_bounded(void **state)
{
    (void)state;
    struct tensor deep = {.dtype = DTYPE_FP32, .rank = RANK_MAX + 1};
    EXPECT_ERROR(make("gather_nd", deep, TENSOR(INT32, NULL, 1, 1), none, none), SHAPE_MISMATCH,
                 "params", "params has rank 17; at most 16 is possible");
    EXPECT_ERROR(
        make("gather_nd", TENSOR(FP32, NULL, 2, -3), TENSOR(INT32, NULL, 1, 1), none, none),
        SHAPE_MISMATCH, "params", "dimension 1 of params is -3; it must not be negative");
}

/* ---------------------------------------------------------------------------------- sizes */

static void output_limit_is_exact(void **state)
{
    (void)state;
    const struct tensor indices = TENSOR(INT32, NULL, 1, 1), updates = TENSOR(FP32, NULL, 1);
    options.output_limit = 400;
    assert_int_equal(make("scatter_nd", indices, updates, TENSOR(INT32, INTS(100), 1), none),
                     ERROR_NONE);
    EXPECT_ERROR(make("scatter_nd", indices, updates, TENSOR(INT32, INTS(101), 1), none),
                 OUTPUT_TOO_LARGE, "",
                 "output of shape [101] has 404 bytes; at most 400 are allowed (max_output)");
}

static void bytes_count_four_for_each_size(void **state)
{
    (void)state;
    struct span empty[1] = {SPAN("")};
    options.output_limit = 400;
    assert_int_equal(make("scatter_nd", TENSOR(INT32, NULL, 1, 1), TENSOR(BYTES, empty, 1),
                          TENSOR(INT32, INTS(100), 1), none),
                     ERROR_NONE);
    assert_int_equal(plan.output_bytes, 1600);
    assert_int_equal(make("scatter_nd", TENSOR(INT32, NULL, 1, 1), TENSOR(BYTES, empty, 1),
                          TENSOR(INT32, INTS(101), 1), none),
                     ERROR_OUTPUT_TOO_LARGE);
}

static void overflowing_outputs_are_too_large(void **state)
{
    (void)state;
    const int64_t huge = INT64_C(1) << 62;
    const struct tensor indices = TENSOR(INT32, NULL, 1, 2), updates = TENSOR(FP32, NULL, 1);
    options.output_limit = SIZE_MAX;
    EXPECT_ERROR(make("scatter_nd", indices, updates, TENSOR(INT64, LONGS(huge, 4), 2), none),
                 OUTPUT_TOO_LARGE, "",
                 "output of shape [4611686018427387904, 4] has more bytes than 64 bits can count; "
                 "at most 18446744073709551615 are allowed (max_output)");
    EXPECT_ERROR(make("sparse_segment_sum", TENSOR(FP32, NULL, 1), TENSOR(INT32, NULL, 1),
                      TENSOR(INT64, LONGS(INT64_MAX), 1), none),
                 OUTPUT_TOO_LARGE, "",
                 "segment_ids ends with 9223372036854775807, so output has more rows than 64 bits "
                 "can count");
    assert_int_equal(
        make("gather_nd", TENSOR(FP32, NULL, 2), TENSOR(INT32, NULL, huge, huge, 0), none, none),
        ERROR_OUTPUT_TOO_LARGE);
}

static void overflowing_inputs_are_mismatched(void **state)
{
    (void)state;
    const int64_t huge = INT64_C(1) << 62;
    EXPECT_ERROR(
        make("gather_nd", TENSOR(FP32, NULL, huge, 2), TENSOR(INT32, NULL, 1, 2), none, none),
        SIZE_MISMATCH, "params",
        "params of shape [4611686018427387904, 2] has more bytes than 64 bits can count");
    assert_int_equal(make("sparse_segment_sum", TENSOR(FP32, NULL, 1), TENSOR(INT64, NULL, huge),
                          TENSOR(INT64, NULL, huge), none),
                     ERROR_SIZE_MISMATCH);
}

/* A zero among the dimensions: nothing overflows, however large the others are. */
static void empty_shapes_of_any_size(void **state)
{
    (void)state;
    const int64_t huge = DIMENSION_MAX;
    assert_int_equal(make("tensor_scatter_add", TENSOR(FP32, NULL, 0, huge, huge),
                          TENSOR(INT32, NULL, 0, 1), TENSOR(FP32, NULL, 0, huge, huge), none),
                     ERROR_NONE);
    assert_int_equal(plan.output_bytes, 0);
    assert_int_equal(make("tensor_scatter_add", TENSOR(C64, NULL, 0, huge),
                          TENSOR(INT32, NULL, 0, 1), TENSOR(C64, NULL, 0, huge), none),
                     ERROR_NONE);
    assert_int_equal(
        make("gather_nd", TENSOR(FP32, NULL, 0), TENSOR(INT32, NULL, huge, 0), none, none),
        ERROR_NONE);
    assert_int_equal(plan.output_bytes, 0);
}

static void dimensions_that_values_ask_for_are_bounded(void **state)
{
    (void)state;
    const struct tensor data = TENSOR(FP32, NULL, 1, 0), one = TENSOR(INT32, INTS(0), 1);
    assert_int_equal(
        make("sparse_segment_sum", data, one, one, TENSOR(INT64, LONGS(DIMENSION_MAX))),
        ERROR_NONE);
    EXPECT_SHAPE(plan.output, DIMENSION_MAX, 0);
    assert_int_equal(
        make("sparse_segment_sum", data, one, TENSOR(INT64, LONGS(DIMENSION_MAX - 1), 1), none),
        ERROR_NONE);
    EXPECT_SHAPE(plan.output, DIMENSION_MAX, 0);

    static const char sentence[] = "output of shape [9007199254740992, 0] has a dimension above "
                                   "2^53 - 1";
    EXPECT_ERROR(
        make("sparse_segment_sum", data, one, one, TENSOR(INT64, LONGS(DIMENSION_MAX + 1))),
        OUTPUT_TOO_LARGE, "", sentence);
    EXPECT_ERROR(
        make("sparse_segment_sum", data, one, TENSOR(INT64, LONGS(DIMENSION_MAX), 1), none),
        OUTPUT_TOO_LARGE, "", sentence);
    EXPECT_ERROR(make("scatter_nd", TENSOR(INT32, NULL, 1, 1), TENSOR(FP32, NULL, 1, 0),
                      TENSOR(INT64, LONGS(DIMENSION_MAX + 1, 0), 2), none),
                 OUTPUT_TOO_LARGE, "", sentence);
}

static void shapes_come_before_sizes(void **state)
{
    (void)state;
    const int64_t huge = INT64_C(1) << 62;
    assert_int_equal(make("tensor_scatter_add", TENSOR(FP32, NULL, huge, 2), TENSOR(INT32, NULL, 1),
                          TENSOR(FP32, NULL, 1), none),
                     ERROR_SHAPE_MISMATCH);
}

/* ---------------------------------------------------------------------------------- scratch */

static void row_numbers_go_to_scratch_for_a_team(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    const struct tensor tensor = TENSOR(INT8, NULL, 9, 9), updates = TENSOR(INT8, NULL, N);
    assert_int_equal(make("tensor_scatter_add", tensor, TENSOR(INT64, NULL, N, 2), updates, none),
                     ERROR_NONE);
    assert_int_equal(plan.flat_bytes, 0);
    plan_use_threads(&plan, 2);
    assert_int_equal(plan.options.threads, 2);
    assert_int_equal(plan.flat_bytes, 4 * N);
    assert_int_equal(plan.scratch_bytes, 4 * N);
    plan_use_threads(&plan, 1);
    assert_int_equal(plan.flat_bytes, 0);
    assert_int_equal(plan.scratch_bytes, 0);
    options.threads = 2;
    assert_int_equal(make("tensor_scatter_add", tensor, TENSOR(INT64, NULL, N, 2), updates, none),
                     ERROR_NONE);
    assert_int_equal(plan.flat_bytes, 4 * N);
    assert_int_equal(
        make("tensor_scatter_add", TENSOR(INT8, NULL, 9), TENSOR(INT64, NULL, N, 1), updates, none),
        ERROR_NONE);
    assert_int_equal(plan.scratch_bytes, 0);
}

/* More rows than 32 bits count, addressed by tuples of 32-bit components. */
static void wide_row_numbers_never_fit_narrow_tuples(void **state)
{
    (void)state;
    options.output_limit = SIZE_MAX;
    const struct tensor tensor = TENSOR(INT8, NULL, 65536, 65536), updates = TENSOR(INT8, NULL, 3);
    assert_int_equal(make("tensor_scatter_add", tensor, TENSOR(INT32, NULL, 3, 2), updates, none),
                     ERROR_NONE);
    assert_int_equal(plan.flat_bytes, 64);
    assert_int_equal(make("tensor_scatter_add", tensor, TENSOR(INT64, NULL, 3, 2), updates, none),
                     ERROR_NONE);
    assert_int_equal(plan.flat_bytes, 0);
}

static void small_work_touches_few_bytes(void **state)
{
    (void)state;
    assert_int_equal(make("tensor_scatter_add", TENSOR(FP32, NULL, 1000000),
                          TENSOR(INT32, NULL, 4, 1), TENSOR(FP32, NULL, 4), none),
                     ERROR_NONE);
    assert_true(plan.touched_bytes < 1000);
    assert_int_equal(make("scatter_nd", TENSOR(INT32, NULL, 4, 1), TENSOR(FP32, NULL, 4),
                          TENSOR(INT32, INTS(1000000), 1), none),
                     ERROR_NONE);
    assert_true(plan.touched_bytes >= 4000000);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(scatter_addresses_the_first_dimensions),
        TEST(scatter_nd_reads_its_shape),
        TEST(combine_depends_on_the_type),
        TEST(complex_is_floats_of_twice_the_width),
        TEST(gather_joins_outer_and_inner_dimensions),
        TEST(segments_follow_the_last_id),
        TEST(missing_inputs_are_named),
        TEST(types_are_listed),
        TEST(types_come_before_shapes),
        TEST(scatter_shapes_are_explained),
        TEST(scatter_nd_shape_is_explained),
        TEST(gather_shapes_are_explained),
        TEST(segment_shapes_are_explained),
        TEST(ranks_and_dimensions_are_bounded),
        TEST(output_limit_is_exact),
        TEST(bytes_count_four_for_each_size),
        TEST(overflowing_outputs_are_too_large),
        TEST(overflowing_inputs_are_mismatched),
        TEST(empty_shapes_of_any_size),
        TEST(dimensions_that_values_ask_for_are_bounded),
        TEST(shapes_come_before_sizes),
        TEST(row_numbers_go_to_scratch_for_a_team),
        TEST(wide_row_numbers_never_fit_narrow_tuples),
        TEST(small_work_touches_few_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
