/* The sentences and details of errors that name an element, and the checks that find them. */
#include "tests/support/kernels/kernel_run.h"
#include "tests/support/kernels/tensors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct kernel_run run;

static enum error_code start(const char *op, struct tensor a, struct tensor b, struct tensor c)
{
    run = (struct kernel_run){.op = op, .inputs = {a, b, c}};
    return kernel_run_do(&run);
}

static int teardown(void **state)
{
    (void)state;
    kernel_run_release(&run);
    return 0;
}

#define EXPECT_FAULT(started, CODE, name, sentence)                                                \
    do {                                                                                           \
        assert_int_equal(started, ERROR_##CODE);                                                   \
        assert_string_equal(run.error.input, name);                                                \
        assert_string_equal(run.error.message, sentence);                                          \
        assert_true(run.guards_hold);                                                              \
    } while (0)

static void index_of_a_vector(void **state)
{
    (void)state;
    EXPECT_FAULT(start("tensor_scatter_add", TENSOR(FP32, FLOATS(0, 0, 0, 0), 4),
                       TENSOR(INT32, INTS(0, 7), 2, 1), TENSOR(FP32, FLOATS(1, 2), 2)),
                 INDEX_OUT_OF_BOUNDS, "indices",
                 "indices[1] = [7] is out of bounds for shape [4] of tensor (axis 0: 7 is not in "
                 "[0, 4))");
    assert_int_equal(run.error.invalid_count, 1);
    assert_int_equal(run.error.fault_count, 1);
    assert_int_equal(run.error.faults[0].axis, 0);
}

static void index_tuple_at_a_deep_position(void **state)
{
    (void)state;
    EXPECT_FAULT(start("scatter_nd", TENSOR(INT64, LONGS(0, 0, 1, 9), 1, 2, 2),
                       TENSOR(FP32, FLOATS(1, 2, 3, 4, 5, 6), 1, 2, 3),
                       TENSOR(INT32, INTS(2, 5, 3), 3)),
                 INDEX_OUT_OF_BOUNDS, "indices",
                 "indices[0, 1] = [1, 9] is out of bounds for shape [2, 5, 3] of output (axis 1: 9 "
                 "is not in [0, 5))");
    const struct error *e = &run.error;
    assert_int_equal(e->faults[0].position_rank, 2);
    assert_int_equal(e->faults[0].position[1], 1);
    assert_int_equal(e->faults[0].index_rank, 2);
    assert_int_equal(e->faults[0].index[1], 9);
    assert_int_equal(e->faults[0].axis, 1);
    assert_int_equal(e->bound_rank, 2);
    assert_int_equal(e->bound[1], 5);
}

static void index_vector_of_gather(void **state)
{
    (void)state;
    EXPECT_FAULT(start("gather_nd", TENSOR(FP32, FLOATS(1, 2, 3, 4), 2, 2),
                       TENSOR(INT32, INTS(-1, 5), 2), TENSOR(NONE, NULL)),
                 INDEX_OUT_OF_BOUNDS, "indices",
                 "indices = [-1, 5] is out of bounds for shape [2, 2] of params (axis 0: -1 is not "
                 "in [0, 2))");
    assert_int_equal(run.error.faults[0].position_rank, 0);
}

static void index_of_segments(void **state)
{
    (void)state;
    EXPECT_FAULT(start("sparse_segment_sum", TENSOR(FP32, FLOATS(1, 2), 2, 1),
                       TENSOR(INT32, INTS(0, 2), 2), TENSOR(INT32, INTS(0, 0), 2)),
                 INDEX_OUT_OF_BOUNDS, "indices",
                 "indices[1] = 2 is out of bounds for shape [2, 1] of data (axis 0: 2 is not in "
                 "[0, 2))");
}

static void segment_ids_that_decrease(void **state)
{
    (void)state;
    EXPECT_FAULT(start("sparse_segment_sum", TENSOR(FP32, FLOATS(1), 1),
                       TENSOR(INT32, INTS(0, 0, 0, 0), 4), TENSOR(INT32, INTS(0, 2, 2, 1), 4)),
                 SEGMENT_IDS_NOT_SORTED, "segment_ids",
                 "segment_ids[3] = 1 is below segment_ids[2] = 2: segment ids must not decrease");
    assert_int_equal(run.error.faults[0].position[0], 3);
    assert_int_equal(run.error.faults[0].index[0], 1);
    assert_int_equal(run.error.bound_rank, 0);
}

static void segment_id_that_is_negative(void **state)
{
    (void)state;
    EXPECT_FAULT(start("sparse_segment_sum", TENSOR(FP32, FLOATS(1), 1), TENSOR(INT32, INTS(0), 1),
                       TENSOR(INT64, LONGS(INT64_MIN), 1)),
                 SEGMENT_ID_OUT_OF_RANGE, "segment_ids",
                 "segment_ids[0] = -9223372036854775808 must not be negative");
    assert_int_equal(run.error.bound_rank, 0);
}

static void segment_id_that_is_too_large(void **state)
{
    (void)state;
    run = (struct kernel_run){.op = "sparse_segment_sum",
                              .inputs = {TENSOR(FP32, FLOATS(1), 1), TENSOR(INT32, INTS(0), 1),
                                         TENSOR(INT32, INTS(0), 1), TENSOR(INT32, INTS(0))}};
    EXPECT_FAULT(kernel_run_do(&run), SEGMENT_ID_OUT_OF_RANGE, "segment_ids",
                 "segment_ids[0] = 0 must be < num_segments = 0");
    assert_int_equal(run.error.bound_rank, 1);
    assert_int_equal(run.error.bound[0], 0);
}

static void division_by_zero_names_the_row(void **state)
{
    (void)state;
    EXPECT_FAULT(start("tensor_scatter_div", TENSOR(INT32, INTS(1, 2, 3, 4), 2, 2),
                       TENSOR(INT32, INTS(0, 1), 2, 1), TENSOR(INT32, INTS(1, 1, 5, 0), 2, 2)),
                 DIVISION_BY_ZERO, "updates",
                 "updates[1] holds a zero, and INT32 cannot be divided by it");
    assert_int_equal(run.error.faults[0].position_rank, 1);
    assert_int_equal(run.error.faults[0].position[0], 1);
    assert_int_equal(run.error.faults[0].index_rank, 0);
}

/* Of many bad rows all are counted and the first eight described. */
static void many_bad_rows(void **state)
{
    (void)state;
    enum { N = 100 };
    int32_t indices[N];
    float updates[N] = {0};
    for (int k = 0; k < N; k++)
        indices[k] = k % 3 == 1 ? 1000 + k : 0;
    assert_int_equal(start("tensor_scatter_add", TENSOR(FP32, FLOATS(0), 1),
                           TENSOR(INT32, indices, N, 1), TENSOR(FP32, updates, N)),
                     ERROR_INDEX_OUT_OF_BOUNDS);
    assert_int_equal(run.error.invalid_count, 33);
    assert_int_equal(run.error.fault_count, ERROR_FAULTS_MAX);
    for (int i = 0; i < ERROR_FAULTS_MAX; i++) {
        assert_int_equal(run.error.faults[i].position[0], 1 + 3 * i);
        assert_int_equal(run.error.faults[i].index[0], 1001 + 3 * i);
    }
}

/* One thread flattens tuples in place; a bad one and those after it are still there to be told. */
static void tuples_flattened_in_place_are_still_reported(void **state)
{
    (void)state;
    EXPECT_FAULT(
        start("tensor_scatter_add", TENSOR(FP32, FLOATS(0, 0, 0, 0), 2, 2),
              TENSOR(INT32, INTS(1, 1, 0, 1, 1, 0, 5, 6, 0, 0, 7, 8), 6, 2),
              TENSOR(FP32, FLOATS(1, 2, 3, 4, 5, 6), 6)),
        INDEX_OUT_OF_BOUNDS, "indices",
        "indices[3] = [5, 6] is out of bounds for shape [2, 2] of tensor (axis 0: 5 is not "
        "in [0, 2))");
    assert_int_equal(run.error.invalid_count, 2);
    assert_int_equal(run.error.faults[1].position[0], 5);
    assert_int_equal(run.error.faults[1].index[1], 8);
}

enum { MANY = 300000 };

/* Fills `many` tuples of depth `depth` with zeros, but for the last component of `bad` rows. */
static int32_t *tuples_new(int depth, const int *bad, int count)
{
    int32_t *indices = calloc((size_t)MANY * (size_t)depth, sizeof *indices);
    for (int i = 0; i < count; i++)
        indices[bad[i] * depth + depth - 1] = 77;
    return indices;
}

/* The first bad row wins whichever thread finds one first. */
static void first_bad_row_of_a_team(void **state)
{
    (void)state;
    static const int bad[] = {299999, 150000, 149999, 70001};
    int8_t *updates = calloc(MANY, 1);
    for (int depth = 1; depth <= 4; depth++) {
        int32_t *indices = tuples_new(depth, bad, 4);
        struct tensor tensor = {DTYPE_INT8, depth, {2, 2, 2, 2}, calloc(1, 16)};
        run = (struct kernel_run){
            .op = "tensor_scatter_add",
            .inputs = {tensor, TENSOR(INT32, indices, MANY, depth), TENSOR(INT8, updates, MANY)},
            .threads = 7};
        assert_int_equal(kernel_run_do(&run), ERROR_INDEX_OUT_OF_BOUNDS);
        assert_int_equal(run.error.faults[0].position[0], 70001);
        assert_int_equal(run.error.faults[0].axis, depth - 1);
        assert_int_equal(run.error.faults[1].position[0], 149999);
        assert_int_equal(run.error.invalid_count, 4);
        kernel_run_release(&run);
        free(indices);
        free(tensor.data);
    }
    free(updates);
}

static void team_counts_ignored_rows(void **state)
{
    (void)state;
    static const int bad[] = {0, 4096, 150000, 299999};
    int8_t *updates = calloc(MANY, 1);
    memset(updates, 1, MANY);
    for (int depth = 1; depth <= 3; depth++) {
        int32_t *indices = tuples_new(depth, bad, 4);
        struct tensor tensor = {DTYPE_INT8, depth, {2, 2, 2}, calloc(1, 8)};
        run = (struct kernel_run){
            .op = "tensor_scatter_add",
            .inputs = {tensor, TENSOR(INT32, indices, MANY, depth), TENSOR(INT8, updates, MANY)},
            .threads = 3,
            .ignore_bad = true};
        assert_int_equal(kernel_run_do(&run), ERROR_NONE);
        assert_int_equal(run.plan.ignored, 4);
        assert_int_equal(((int8_t *)run.plan.output.data)[0], (int8_t)(MANY - 4));
        kernel_run_release(&run);
        free(indices);
        free(tensor.data);
    }
    free(updates);
}

/* The sums of one thread's row numbers and of a team's are the same sums. */
static void team_flattens_as_one_thread_does(void **state)
{
    (void)state;
    int16_t *updates = calloc(MANY, sizeof *updates);
    int64_t *indices = calloc((size_t)MANY * 3, sizeof *indices);
    int16_t *tensor = calloc(64 * 64 * 64, sizeof *tensor),
            *sums = calloc(64 * 64 * 64, sizeof *sums);
    for (int k = 0; k < MANY; k++)
        updates[k] = (int16_t)(k % 251);
    for (int depth = 1; depth <= 3; depth++) {
        struct tensor t = {DTYPE_INT16, depth, {64, 64, 64}, tensor};
        size_t bytes = sizeof *tensor << 6 * depth;
        for (int64_t i = 0; i < (int64_t)MANY * depth; i++)
            indices[i] = i * 2654435761 % 64;
        for (int threads = 1; threads <= 6; threads += 5) {
            run = (struct kernel_run){
                .op = "tensor_scatter_add",
                .inputs = {t, TENSOR(INT64, indices, MANY, depth), TENSOR(INT16, updates, MANY)},
                .threads = threads};
            assert_int_equal(kernel_run_do(&run), ERROR_NONE);
            if (threads == 1)
                memcpy(sums, run.plan.output.data, bytes);
            assert_memory_equal(run.plan.output.data, sums, bytes);
            kernel_run_release(&run);
        }
    }
    free(updates);
    free(indices);
    free(tensor);
    free(sums);
}

/* Sorted ids are scanned in blocks: a fault at every place around their edges is found there. */
static void decrease_is_found_at_every_place(void **state)
{
    (void)state;
    enum { N = 3000 };
    int64_t wide[N];
    int32_t narrow[N], indices[N] = {0};
    static const int places[] = {1, 2, 1022, 1023, 1024, 1025, 1026, 2048, 2049, N - 1};
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
        for (int k = 0; k < N; k++)
            narrow[k] = (int32_t)(wide[k] = k < places[p] ? 5 : 4);
        for (int bits = 32; bits <= 64; bits += 32) {
            struct tensor ids = bits == 32 ? TENSOR(INT32, narrow, N) : TENSOR(INT64, wide, N);
            assert_int_equal(start("sparse_segment_sum", TENSOR(FP32, FLOATS(1), 1),
                                   TENSOR(INT32, indices, N), ids),
                             ERROR_SEGMENT_IDS_NOT_SORTED);
            assert_int_equal(run.error.faults[0].position[0], places[p]);
            kernel_run_release(&run);
        }
    }
}

static void bad_index_is_found_at_every_place(void **state)
{
    (void)state;
    enum { N = 8200 };
    static const int places[] = {0, 1, 4095, 4096, 4097, 8191, 8192, N - 1};
    static const int64_t values[] = {-1, 9, INT32_MAX, INT32_MIN};
    int32_t *narrow = calloc(N, 4);
    int64_t *wide = calloc(N, 8);
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++)
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
            for (int bits = 32; bits <= 64; bits += 32) {
                memset(narrow, 0, N * 4);
                memset(wide, 0, N * 8);
                narrow[places[p]] = (int32_t)values[v];
                wide[places[p]] = values[v] * (v < 2 ? 1 : INT64_C(4294967296));
                struct tensor indices =
                    bits == 32 ? TENSOR(INT32, narrow, N, 1) : TENSOR(INT64, wide, N, 1);
                assert_int_equal(
                    start("gather_nd", TENSOR(INT8, "123456789", 9), indices, TENSOR(NONE, NULL)),
                    ERROR_INDEX_OUT_OF_BOUNDS);
                assert_int_equal(run.error.faults[0].position[0], places[p]);
                assert_int_equal(run.error.invalid_count, 1);
                kernel_run_release(&run);
            }
    free(narrow);
    free(wide);
}

/* An error never leaves a half-changed result. */
static void nothing_is_written_on_an_error(void **state)
{
    (void)state;
    run = (struct kernel_run){.op = "tensor_scatter_add",
                              .inputs = {TENSOR(FP32, FLOATS(1, 2, 3), 3),
                                         TENSOR(INT32, INTS(0, 1, 3), 3, 1),
                                         TENSOR(FP32, FLOATS(10, 20, 30), 3)},
                              .in_place = true};
    assert_int_equal(kernel_run_do(&run), ERROR_INDEX_OUT_OF_BOUNDS);
    assert_memory_equal(run.plan.output.data, FLOATS(1, 2, 3), 12);
    kernel_run_release(&run);
    run.op = "tensor_scatter_div";
    run.inputs[0] = TENSOR(INT32, INTS(8, 8, 8), 3);
    run.inputs[1] = TENSOR(INT32, INTS(0, 1, 2), 3, 1);
    run.inputs[2] = TENSOR(INT32, INTS(2, 4, 0), 3);
    assert_int_equal(kernel_run_do(&run), ERROR_DIVISION_BY_ZERO);
    assert_memory_equal(run.plan.output.data, INTS(8, 8, 8), 12);
}

/* Sixteen negative numbers of 64 bits: the longest tuple, position and shape. */
static void longest_tuple_is_said(void **state)
{
    (void)state;
    int64_t indices[RANK_MAX];
    struct tensor params = {DTYPE_INT8, RANK_MAX, {0}, "x"};
    for (int i = 0; i < RANK_MAX; i++) {
        indices[i] = INT64_MIN;
        params.shape[i] = 1;
    }
    assert_int_equal(
        start("gather_nd", params, TENSOR(INT64, indices, 1, RANK_MAX), TENSOR(NONE, NULL)),
        ERROR_INDEX_OUT_OF_BOUNDS);
    assert_int_equal(run.error.faults[0].index_rank, RANK_MAX);
    assert_int_equal(strncmp(run.error.message, "indices[0] = [-9223372036854775808, -92", 39), 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(index_of_a_vector),
        TEST(index_tuple_at_a_deep_position),
        TEST(index_vector_of_gather),
        TEST(index_of_segments),
        TEST(segment_ids_that_decrease),
        TEST(segment_id_that_is_negative),
        TEST(segment_id_that_is_too_large),
        TEST(division_by_zero_names_the_row),
        TEST(many_bad_rows),
        TEST(tuples_flattened_in_place_are_still_reported),
        TEST(first_bad_row_of_a_team),
        TEST(team_counts_ignored_rows),
        TEST(team_flattens_as_one_thread_does),
        TEST(decrease_is_found_at_every_place),
        TEST(bad_index_is_found_at_every_place),
        TEST(nothing_is_written_on_an_error),
        TEST(longest_tuple_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
