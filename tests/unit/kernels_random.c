/* Random cases of every operation, type and index type against the reference loops, at every level,
 * shared among threads in every way. The seed is printed; SEED=n repeats a run or makes another. */
#include "kernels/op.h"
#include "tests/support/golden/golden.h"
#include "tests/support/kernels/kernel_run.h"
#include "tests/support/kernels/reference.h"
#include "tests/support/kernels/segment_rows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 8, MANY_ROWS = 33000 };

static uint64_t state_of_random;

static uint64_t any_number(void)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return state_of_random;
}

static int64_t below(int64_t n)
{
    return (int64_t)((any_number() >> 11) % (uint64_t)n);
}

static bool once_in(int n)
{
    return below(n) == 0;
}

/* -------------------------------------------------------------------------------- elements */

static double any_float(void)
{
    static const double special[] = {0,     -0.0,   1,     -1,    NAN,      INFINITY, -INFINITY,
                                     1e-40, -3e-45, 65504, 65520, 0x1p-149, 3.4e38,   0x1p-24};
    if (once_in(4))
        return special[below(sizeof special / sizeof special[0])];
    return ldexp((double)below(1 << 24) - (1 << 23), (int)below(30) - 26);
}

static void fill(struct tensor *t, int64_t i, bool nonzero)
{
    static const char text[] = "abcdefghijklmnopqrstuvwxyz";
    uint64_t bits = once_in(4) ? (uint64_t)below(5) - 2 : any_number();
    bits += nonzero && bits % 256 == 0;
    switch (t->dtype) {
    case DTYPE_FP32:
        ((float *)t->data)[i] = once_in(8) ? NAN : (float)any_float();
        memcpy((float *)t->data + i, &bits, once_in(8) ? 4 : 0);
        break;
    case DTYPE_FP64:
        ((double *)t->data)[i] = any_float();
        memcpy((double *)t->data + i, &bits, once_in(8) ? 8 : 0);
        break;
    case DTYPE_BYTES:
        ((struct span *)t->data)[i] = (struct span){text + below(20), (size_t)below(7)};
        break;
    case DTYPE_BOOL:
        ((uint8_t *)t->data)[i] = once_in(2) ? 0 : (uint8_t)any_number();
        break;
    default:
        memcpy((char *)t->data + (size_t)i * dtype_bytes(t->dtype), &bits, dtype_bytes(t->dtype));
    }
}

static int64_t count_of(const struct tensor *t)
{
    int64_t count = 1;
    for (int i = 0; i < t->rank; i++)
        count *= t->shape[i];
    return count;
}

static void memory_new(struct tensor *t)
{
    t->data = malloc((size_t)count_of(t) * dtype_bytes(t->dtype) + 1);
    assert_non_null(t->data);
}

/* The parts of a complex number are floats. */
static void values_new(struct tensor *t, bool nonzero)
{
    struct tensor parts = *t;
    int64_t count = count_of(t);
    memory_new(t);
    parts.data = t->data;
    if (t->dtype == DTYPE_C64 || t->dtype == DTYPE_C128) {
        parts.dtype = t->dtype == DTYPE_C64 ? DTYPE_FP32 : DTYPE_FP64;
        count *= 2;
    }
    for (int64_t i = 0; i < count; i++)
        fill(&parts, i, nonzero);
}

static void set_index(struct tensor *t, int64_t i, int64_t v)
{
    if (t->dtype == DTYPE_INT32)
        ((int32_t *)t->data)[i] = (int32_t)v;
    else
        ((int64_t *)t->data)[i] = v;
}

static int64_t bad_index(int64_t bound)
{
    const int64_t values[] = {-1, bound, bound + 1, INT32_MIN, INT32_MAX, -bound - 1};
    return values[below(6)];
}

/* Tuples below `bounds`, some of them out of bounds when `spoiled`; often the same row again. */
static void indices_new(struct tensor *t, const int64_t *bounds, int depth, bool spoiled)
{
    memory_new(t);
    int64_t count = count_of(t);
    bool narrow = once_in(3);
    for (int64_t i = 0; i < count; i++) {
        int64_t bound = bounds[i % depth];
        int64_t v = bound > 0 ? below(narrow ? (bound + 2) / 3 : bound) : 0;
        set_index(t, i, spoiled && once_in(10) ? bad_index(bound) : v);
    }
}

/* ---------------------------------------------------------------------------------- shapes */

static int64_t any_width(void)
{
    static const int64_t widths[] = {1,  1,  1,  1,  2,  3,  4,  5,  7,  8,   9,   15,
                                     16, 17, 24, 31, 32, 33, 64, 65, 80, 100, 130, 0};
    return widths[below(sizeof widths / sizeof widths[0])];
}

/* Dimensions to address, then those of a row. */
static void table_shape(struct tensor *t, int depth)
{
    int64_t width = any_width();
    t->rank = 0;
    for (int i = 0; i < depth; i++)
        t->shape[t->rank++] = once_in(40) ? 0 : 1 + below(depth == 1 ? 40 : 6);
    if (width != 1 || once_in(2)) {
        bool splits = width % 4 == 0 && once_in(2);
        t->shape[t->rank++] = splits ? width / 4 : width;
        if (splits)
            t->shape[t->rank++] = 4;
    }
}

/* Dimensions that number so many rows. */
static void rows_shape(struct tensor *t, int64_t rows)
{
    t->rank = 0;
    if (rows % 2 == 0 && once_in(3)) {
        t->shape[t->rank++] = 2;
        rows /= 2;
    }
    t->shape[t->rank++] = rows;
}

/* Outer dimensions of the indices and the tuple's. */
static void indices_shape(struct tensor *t, int depth, int64_t rows)
{
    rows_shape(t, rows);
    t->shape[t->rank++] = depth;
}

static void append_shape(struct tensor *t, const struct tensor *row, int from)
{
    for (int i = from; i < row->rank; i++)
        t->shape[t->rank++] = row->shape[i];
}

static void updates_shape(struct tensor *u, const struct tensor *indices,
                          const struct tensor *table, int depth)
{
    u->rank = 0;
    for (int i = 0; i < indices->rank - 1; i++)
        u->shape[u->rank++] = indices->shape[i];
    append_shape(u, table, depth);
}

/* ----------------------------------------------------------------------------------- cases */

static void scatter_inputs(struct kernel_run *run, const struct op *op, enum dtype dtype,
                           enum dtype index, int64_t rows)
{
    int depth = 1 + (int)below(4), first = op_input(op, "indices", 7);
    bool spoiled = once_in(3), divides = op->combine == COMBINE_DIV && !once_in(4);
    struct tensor table = {.dtype = dtype}, *indices = &run->inputs[first];
    struct tensor *updates = &run->inputs[first + 1];
    table_shape(&table, depth);
    *indices = (struct tensor){.dtype = index};
    indices_shape(indices, depth, rows);
    indices_new(indices, table.shape, depth, spoiled);
    *updates = (struct tensor){.dtype = dtype};
    updates_shape(updates, indices, &table, depth);
    values_new(updates, divides);
    if (op->start == START_COPY) {
        values_new(&table, false);
        run->inputs[0] = table;
        return;
    }
    struct tensor *shape = &run->inputs[2];
    *shape = (struct tensor){.dtype = index, .rank = 1, .shape = {table.rank}};
    memory_new(shape);
    for (int i = 0; i < table.rank; i++)
        set_index(shape, i, table.shape[i]);
}

static void gather_inputs(struct kernel_run *run, enum dtype dtype, enum dtype index, int64_t rows)
{
    bool tuples = strcmp(run->op, "gather_nd") == 0;
    int depth = tuples ? (int)below(5) : 1;
    struct tensor *params = &run->inputs[0], *indices = &run->inputs[1];
    *params = (struct tensor){.dtype = dtype};
    table_shape(params, depth);
    values_new(params, false);
    *indices = (struct tensor){.dtype = index};
    if (tuples)
        indices_shape(indices, depth, rows);
    else if (rows != 1 || once_in(2)) /* else a scalar */
        rows_shape(indices, rows);
    indices_new(indices, params->shape, depth ? depth : 1, once_in(3));
}

/* Ids that do not decrease; returns the last one plus 1. */
static int64_t sorted_ids_new(struct tensor *ids, int64_t rows)
{
    int64_t id = once_in(3) ? 2 : 0, run_length = 1 + below(12);
    *ids = (struct tensor){once_in(2) ? DTYPE_INT32 : DTYPE_INT64, 1, {rows}, NULL};
    memory_new(ids);
    for (int64_t k = 0; k < rows; k++) {
        id += once_in((int)run_length) ? 1 + (once_in(4) ? below(4) : 0) : 0;
        set_index(ids, k, id);
    }
    return rows ? id + 1 : 0;
}

static void num_segments_new(struct tensor *t, enum dtype index, int64_t segments)
{
    *t = (struct tensor){.dtype = index, .rank = once_in(2), .shape = {1}};
    memory_new(t);
    set_index(t, 0, segments);
}

static void sparse_inputs(struct kernel_run *run, enum dtype dtype, enum dtype index, int64_t rows)
{
    struct tensor *data = &run->inputs[0], *indices = &run->inputs[1];
    *data = (struct tensor){.dtype = dtype};
    table_shape(data, 1);
    values_new(data, false);
    *indices = (struct tensor){.dtype = index, .rank = 1, .shape = {rows}};
    indices_new(indices, data->shape, 1, once_in(3));
    int64_t segments = sorted_ids_new(&run->inputs[2], rows);
    if (once_in(2))
        num_segments_new(&run->inputs[3], index, segments + below(3));
}

/* Ids of any rank below the number of segments; some are negative, at times all. */
static void unsorted_ids_new(struct tensor *ids, int64_t segments, int64_t rows)
{
    bool narrow = once_in(3), drops = segments == 0 || once_in(2);
    ids->dtype = once_in(2) ? DTYPE_INT32 : DTYPE_INT64;
    if (rows != 1 || once_in(2)) /* else a scalar */
        rows_shape(ids, rows);
    memory_new(ids);
    for (int64_t k = 0; k < rows; k++)
        set_index(ids, k,
                  drops && (segments == 0 || once_in(4)) ? -1 - below(INT32_MAX)
                                                         : below(narrow ? 1 : segments));
}

static void segment_inputs(struct kernel_run *run, enum dtype dtype, enum dtype index, int64_t rows)
{
    struct tensor *data = &run->inputs[0], *ids = &run->inputs[1], row = {0};
    if (op_input(run->row, "num_segments", 12) < 0)
        (void)sorted_ids_new(ids, rows);
    else {
        int64_t segments = once_in(8) ? 5000 + below(100) : once_in(10) ? 0 : 1 + below(40);
        unsorted_ids_new(ids, segments, rows);
        num_segments_new(&run->inputs[2], index, segments);
    }
    table_shape(&row, 0);
    *data = *ids;
    data->dtype = dtype;
    append_shape(data, &row, 0);
    values_new(data, false);
}

/* Machines on which the model chooses as it never would on another: where no table fits a cache and
 * where all do, where teams cost nothing and where they cost more than any work. */
static const struct machine machines[] = {
    {.second_level_bytes = 0, .third_level_bytes = 0, .line_ns = 1000, .team_ns = 0},
    {.second_level_bytes = 0, .third_level_bytes = 0, .line_ns = 1, .team_ns = 1e9},
    {.second_level_bytes = SIZE_MAX, .third_level_bytes = SIZE_MAX, .line_ns = 1, .team_ns = 0},
    {.second_level_bytes = SIZE_MAX, .third_level_bytes = SIZE_MAX, .line_ns = 1, .team_ns = 1e9},
};

static void choose_form(struct kernel_run *run)
{
    static const int threads[] = {0, 1, 1, 2, 3, 7};
    run->level = level_at((int)below(level_count()));
    run->split = (struct split){threads[below(6)], once_in(3), once_in(2)};
    run->machine = &machines[below(sizeof machines / sizeof *machines)];
    run->threads = run->split.threads ? run->split.threads : 2;
    run->ignore_bad = once_in(2);
    run->in_place = once_in(2);
    run->flat = once_in(2);
}

static int64_t row_of_fault(const struct kernel_run *run)
{
    const struct fault *f = &run->error.faults[0];
    const int64_t *shape = run->plan.indices->shape;
    int64_t row = 0;
    for (int i = 0; i < f->position_rank; i++)
        row = row * shape[i] + f->position[i];
    return row;
}

/* An operation that only picks elements keeps every bit of a NaN as well, except where half types
 * are folded in float32. */
static bool same_bits(const struct plan *plan, const struct tensor *a, const struct tensor *b)
{
    bool folds_halves = plan->kind == PLAN_SEGMENT && dtype_bytes(plan->dtype) == 2;
    if (!golden_equal(a, b) || !combine_picks(plan->combine) || folds_halves ||
        a->dtype == DTYPE_BYTES)
        return golden_equal(a, b);
    return memcmp(a->data, b->data, (size_t)count_of(a) * dtype_bytes(a->dtype)) == 0;
}

static void compare(struct kernel_run *run, const struct reference *expected)
{
    enum error_code code = kernel_run_do(run);
    bool right = code == expected->code && run->guards_hold;
    if (right && code == ERROR_NONE)
        right = run->plan.ignored == expected->ignored &&
                same_bits(&run->plan, &run->plan.output, &expected->output);
    else if (right)
        right = row_of_fault(run) == expected->row;
    if (!right)
        fail_msg("%s of %s, %d rows of width %d, depth %d, level %s, %d threads%s%s%s: %s", run->op,
                 dtype_name(run->plan.dtype), (int)run->plan.rows.count, (int)run->plan.rows.width,
                 run->plan.rows.depth, run->level->name, run->split.threads,
                 run->split.columns ? " by columns" : "", run->in_place ? ", in place" : "",
                 run->ignore_bad ? ", ignoring" : "", run->error.code ? run->error.message : "");
    kernel_run_release(run);
}

static void random_case(const struct op *op, enum dtype dtype, enum dtype index, int64_t rows)
{
    struct kernel_run run = {.op = op->name, .row = op};
    struct reference expected;
    choose_form(&run);
    if (op_input(op, "updates", 7) >= 0)
        scatter_inputs(&run, op, dtype, index, rows);
    else if (op_input(op, "segment_ids", 11) < 0)
        gather_inputs(&run, dtype, index, rows);
    else if (op_input(op, "indices", 7) >= 0)
        sparse_inputs(&run, dtype, index, rows);
    else
        segment_inputs(&run, dtype, index, rows);
    reference_run(&expected, op->name, run.inputs, run.ignore_bad);
    compare(&run, &expected);
    reference_release(&expected);
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        free(run.inputs[i].data);
}

static void every_type(const struct op *op, int rounds, int64_t most_rows)
{
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++)
        for (int round = 0; op->dtypes >> d & 1 && round < rounds; round++) {
            random_case(op, (enum dtype)d, DTYPE_INT32, below(most_rows));
            random_case(op, (enum dtype)d, DTYPE_INT64, below(most_rows));
        }
}

static void few_rows(void **state)
{
    every_type(*state, ROUNDS, 150);
}

/* Enough rows that a team checks and flattens them, and that picks go on over many blocks. Fewer
 * where the reference is slow, or takes memory for every element. */
static void many_rows(void **state)
{
    const struct op *op = *state;
    bool is_segment = op_input(op, "segment_ids", 11) >= 0;
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++)
        if (op->dtypes >> d & 1)
            random_case(op, (enum dtype)d, once_in(2) ? DTYPE_INT32 : DTYPE_INT64,
                        is_segment || d == DTYPE_BYTES ? 3000 : MANY_ROWS + below(1000));
}

static void segments_take_any_combine(void **state)
{
    (void)state;
    struct op row;
    for (int i = 0; segment_row_next(&i, &row);)
        every_type(&row, ROUNDS, 150);
}

int main(void)
{
    const char *given = getenv("SEED");
    struct CMUnitTest tests[2 * OPS_MAX + 1] = {0};
    size_t n = 0;
    state_of_random = given ? strtoull(given, NULL, 0) : 20261130;
    printf("SEED=%llu\n", (unsigned long long)state_of_random);
    for (int i = 0; i < op_count(); i++) {
        void *op = (void *)op_at(i);
        tests[n++] = (struct CMUnitTest){op_at(i)->name, few_rows, NULL, NULL, op};
        tests[n++] = (struct CMUnitTest){op_at(i)->name, many_rows, NULL, NULL, op};
    }
    tests[n++] = (struct CMUnitTest){"segments take any combine", segments_take_any_combine, NULL,
                                     NULL, NULL};
    return _cmocka_run_group_tests("random", tests, n, NULL, NULL);
}
