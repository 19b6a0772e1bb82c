/* How work is shared: who owns what, and what the model chooses. */
#include "kernels/check.h"
#include "kernels/cpu/split.h"
#include "tests/support/kernels/tensors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A plan over indices that `destination` makes, checked. The values are never looked at. */
struct made {
    struct plan plan;
    int32_t *indices, *ids;
    void *data;
};

enum { TO_ONE_ROW = -1, UNIFORM = -2 };

static void made_init(struct made *m, const char *op, struct tensor table, int64_t rows,
                      int64_t pattern, int threads)
{
    struct op_name name;
    struct error error;
    struct plan_options options = {.output_limit = SIZE_MAX, .threads = threads};
    struct tensor updates = table, shape = TENSOR(INT64, table.shape, table.rank);
    m->indices = malloc((size_t)rows * sizeof(int32_t));
    m->ids = malloc((size_t)rows * sizeof(int32_t));
    m->data = malloc(1);
    table.data = m->data;
    for (int64_t k = 0; k < rows; k++) {
        m->indices[k] = pattern == UNIFORM ? (int32_t)(k * 7919 % table.shape[0]) : 0;
        m->ids[k] = pattern > 0 ? (int32_t)(k / pattern) : 0;
    }
    updates.shape[0] = rows;
    struct tensor tuples = TENSOR(INT32, m->indices, rows, 1),
                  flat = TENSOR(INT32, m->indices, rows);
    struct tensor scatter[OP_INPUTS_MAX] = {table, tuples, updates};
    struct tensor scatter_nd[OP_INPUTS_MAX] = {tuples, updates, shape};
    struct tensor segment[OP_INPUTS_MAX] = {table, flat, TENSOR(INT32, m->ids, rows)};
    assert_true(op_find(op, strlen(op), &name));
    const struct tensor *inputs = strncmp(op, "tensor", 6) == 0   ? scatter
                                  : strcmp(op, "scatter_nd") == 0 ? scatter_nd
                                  : strcmp(op, "gather_nd") == 0  ? scatter
                                                                  : segment;
    assert_int_equal(plan_make(&m->plan, &name, inputs, &options, &error), ERROR_NONE);
    m->plan.output.data = m->plan.start ? m->data : NULL;
    assert_int_equal(check_run(&m->plan, &error), ERROR_NONE);
}

static void made_release(struct made *m)
{
    free(m->indices);
    free(m->ids);
    free(m->data);
}

static struct split chosen_on(const struct machine *machine, const char *op, struct tensor table,
                              int64_t rows, int64_t pattern, int threads)
{
    struct made m;
    made_init(&m, op, table, rows, pattern, threads);
    m.plan.options.machine = machine;
    struct split split = split_choose(&m.plan);
    made_release(&m);
    return split;
}

static struct split chosen(const char *op, struct tensor table, int64_t rows, int64_t pattern,
                           int threads)
{
    return chosen_on(&machine_typical, op, table, rows, pattern, threads);
}

/* ---------------------------------------------------------------------------------- shares */

/* Every row and column belongs to exactly one thread. */
static void shares_cover_the_work_once(void **state)
{
    (void)state;
    static const char *const ops[] = {"tensor_scatter_add", "gather_nd", "sparse_segment_sum"};
    for (int op = 0; op < 3; op++)
        for (int threads = 1; threads <= 7; threads++)
            for (int columns = 0; columns <= 1; columns++) {
                struct made m;
                struct split split = {.threads = threads, .columns = columns};
                made_init(&m, ops[op], TENSOR(FP32, NULL, 10, 200), 1000, op == 2 ? 30 : UNIFORM,
                          threads);
                int64_t end = 0, rows = op == 0 ? 10 : op == 1 ? 1000 : 34;
                for (int i = 0; i < threads; i++) {
                    struct share s = split_share(&m.plan, &split, i);
                    assert_int_equal(columns ? s.column : s.low, end);
                    end = columns ? s.column + s.columns : s.high;
                    assert_int_equal(columns ? s.high - s.low : s.columns, columns ? rows : 200);
                }
                assert_int_equal(end, columns ? 200 : rows);
                made_release(&m);
            }
}

/* Two threads never write to the same cache line of a row that begins with one. */
static void columns_are_cut_between_lines(void **state)
{
    (void)state;
    struct made m;
    struct split split = {.threads = 3, .columns = true};
    made_init(&m, "tensor_scatter_add", TENSOR(FP32, NULL, 10, 100), 10, UNIFORM, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(split_share(&m.plan, &split, i).column % 16, 0);
    made_release(&m);
}

/* One long segment and many short ones: all threads get about the same number of pairs. */
static void segments_are_shared_by_their_pairs(void **state)
{
    (void)state;
    struct made m;
    struct split split = {.threads = 2};
    made_init(&m, "sparse_segment_sum", TENSOR(FP32, NULL, 10, 4), 1000, 1, 2);
    for (int k = 0; k < 900; k++)
        m.ids[k] = 0;
    assert_int_equal(split_share(&m.plan, &split, 0).high, 0);
    assert_int_equal(split_share(&m.plan, &split, 1).low, 0);
    for (int k = 0; k < 1000; k++)
        m.ids[k] = k / 100;
    assert_int_equal(split_share(&m.plan, &split, 0).high, 5);
    made_release(&m);
}

static void all_rows_of_one_thread_are_its_own(void **state)
{
    (void)state;
    struct made m;
    made_init(&m, "tensor_scatter_add", TENSOR(FP32, NULL, 10, 1), 100, UNIFORM, 2);
    assert_true(split_share(&m.plan, &(struct split){.threads = 1}, 0).direct);
    assert_false(split_share(&m.plan, &(struct split){.threads = 2}, 0).all);
    m.plan.rows.left_out = true;
    assert_false(split_share(&m.plan, &(struct split){.threads = 1}, 0).all);
    assert_false(split_share(&m.plan, &(struct split){.threads = 1}, 0).direct);
    made_release(&m);
}

static void rows_in_the_caches_are_not_prefetched(void **state)
{
    (void)state;
    const struct split alone = {.threads = 1}, columns = {.threads = 2, .columns = true};
    struct made m;
    made_init(&m, "tensor_scatter_add", TENSOR(FP32, NULL, 100, 128), 1000, UNIFORM, 2);
    assert_true(split_share(&m.plan, &alone, 0).direct);
    assert_true(split_share(&m.plan, &columns, 1).direct);
    m.plan.rows.limit = 100000;
    assert_false(split_share(&m.plan, &alone, 0).direct);
    made_release(&m);
}

/* ----------------------------------------------------------------------------------- model */

static void little_work_is_done_alone(void **state)
{
    (void)state;
    const struct tensor table = TENSOR(FP32, NULL, 1000, 16);
    assert_int_equal(chosen("tensor_scatter_add", table, 100, UNIFORM, 8).threads, 1);
    assert_int_equal(chosen("gather_nd", table, 100, UNIFORM, 8).threads, 1);
    assert_int_equal(chosen("sparse_segment_sum", table, 100, 10, 8).threads, 1);
}

/* Two threads would each look at every update, which is all there is to do. */
static void single_elements_of_a_small_table_are_done_alone(void **state)
{
    (void)state;
    assert_int_equal(
        chosen("tensor_scatter_add", TENSOR(FP32, NULL, 1000), 1000000, UNIFORM, 2).threads, 1);
}

static void wide_rows_are_shared(void **state)
{
    (void)state;
    struct split split =
        chosen("tensor_scatter_add", TENSOR(FP32, NULL, 100000, 64), 1000000, UNIFORM, 2);
    assert_int_equal(split.threads, 2);
    assert_false(split.columns);
    assert_int_equal(
        chosen("gather_nd", TENSOR(FP32, NULL, 1000000, 16), 1000000, UNIFORM, 2).threads, 2);
}

static void updates_to_one_row_are_shared_by_columns(void **state)
{
    (void)state;
    struct split split =
        chosen("tensor_scatter_add", TENSOR(FP32, NULL, 399, 128), 40960, TO_ONE_ROW, 2);
    assert_int_equal(split.threads, 2);
    assert_true(split.columns);
}

/* The rows are too narrow to be cut into columns, and sharing rows would leave one thread idle. */
static void narrow_updates_to_one_row_are_done_alone(void **state)
{
    (void)state;
    assert_int_equal(
        chosen("tensor_scatter_add", TENSOR(FP32, NULL, 100000, 8), 100000, TO_ONE_ROW, 2).threads,
        1);
}

static void long_segments_are_shared_by_columns(void **state)
{
    (void)state;
    struct split one =
        chosen("sparse_segment_sum", TENSOR(FP32, NULL, 1000, 128), 200000, TO_ONE_ROW, 2);
    struct split many = chosen("sparse_segment_sum", TENSOR(FP32, NULL, 1000, 128), 200000, 100, 2);
    assert_true(one.columns);
    assert_int_equal(one.threads, 2);
    assert_false(many.columns);
    assert_int_equal(many.threads, 2);
}

static void a_large_start_value_is_shared(void **state)
{
    (void)state;
    assert_int_equal(chosen("scatter_nd", TENSOR(FP32, NULL, 10000000), 10, UNIFORM, 2).threads, 2);
    assert_int_equal(
        chosen("tensor_scatter_add", TENSOR(FP32, NULL, 10000000), 10, UNIFORM, 2).threads, 1);
}

/* ----------------------------------------------------------------------------------- machine */

static void a_table_is_cached_where_the_second_level_holds_it(void **state)
{
    (void)state;
    const struct split alone = {.threads = 1};
    struct machine large = machine_typical;
    large.second_level_bytes = 4 << 20;
    struct made m;
    made_init(&m, "tensor_scatter_add", TENSOR(FP32, NULL, 500000, 1), 1000, UNIFORM, 1);
    assert_false(split_share(&m.plan, &alone, 0).direct);
    m.plan.options.machine = &large;
    assert_true(split_share(&m.plan, &alone, 0).direct);
    made_release(&m);
}

static void a_team_is_gathered_where_that_costs_less_than_it_saves(void **state)
{
    (void)state;
    const struct tensor table = TENSOR(FP32, NULL, 100000, 64);
    struct machine slow = machine_typical, fast = machine_typical;
    slow.team_ns = 1e9;
    fast.team_ns = 100;
    assert_int_equal(chosen_on(&slow, "tensor_scatter_add", table, 100000, UNIFORM, 2).threads, 1);
    assert_int_equal(chosen_on(&fast, "tensor_scatter_add", table, 400, UNIFORM, 2).threads, 2);
    assert_int_equal(chosen("tensor_scatter_add", table, 400, UNIFORM, 2).threads, 1);
}

/* 40 MB: past the caches where they cannot hold it, or where few updates come back to it. */
static void a_start_value_is_streamed_past_caches_that_do_not_help(void **state)
{
    (void)state;
    const struct tensor table = TENSOR(FP32, NULL, 10000000);
    struct machine small = machine_typical, large = machine_typical;
    small.third_level_bytes = 32 << 20;
    large.third_level_bytes = 480 << 20;
    assert_true(chosen_on(&small, "scatter_nd", table, 1000000, UNIFORM, 2).streams);
    assert_false(chosen_on(&large, "scatter_nd", table, 1000000, UNIFORM, 2).streams);
    assert_true(chosen_on(&large, "scatter_nd", table, 1000, UNIFORM, 2).streams);
}

static void a_small_start_value_is_never_streamed(void **state)
{
    (void)state;
    struct machine none = machine_typical;
    none.third_level_bytes = 0;
    assert_false(
        chosen_on(&none, "scatter_nd", TENSOR(FP32, NULL, 1000000), 10, UNIFORM, 2).streams);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_cover_the_work_once),
        cmocka_unit_test(columns_are_cut_between_lines),
        cmocka_unit_test(segments_are_shared_by_their_pairs),
        cmocka_unit_test(all_rows_of_one_thread_are_its_own),
        cmocka_unit_test(rows_in_the_caches_are_not_prefetched),
        cmocka_unit_test(little_work_is_done_alone),
        cmocka_unit_test(single_elements_of_a_small_table_are_done_alone),
        cmocka_unit_test(wide_rows_are_shared),
        cmocka_unit_test(updates_to_one_row_are_shared_by_columns),
        cmocka_unit_test(narrow_updates_to_one_row_are_done_alone),
        cmocka_unit_test(long_segments_are_shared_by_columns),
        cmocka_unit_test(a_large_start_value_is_shared),
        cmocka_unit_test(a_table_is_cached_where_the_second_level_holds_it),
        cmocka_unit_test(a_team_is_gathered_where_that_costs_less_than_it_saves),
        cmocka_unit_test(a_start_value_is_streamed_past_caches_that_do_not_help),
        cmocka_unit_test(a_small_start_value_is_never_streamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
