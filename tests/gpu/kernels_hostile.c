/* Indices and segment ids as an enemy would send them: the device never reads or writes by one that
 * it has not checked, and says the same as the CPU. Each case has a lane of its own, so that a
 * buffer ends where the data ends.
 *
 *   kernels_hostile [STRIDE]      STRIDE: only each so many-th place, for tools that take long */
#include "kernels/flatten.h"
#include "tests/gpu/support/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 5, DEPTH_MAX = 3, SIDE = 4, WIDTH = 3 };

static const int64_t values[] = {
    -1,
    -SIDE,
    SIDE,
    SIDE + 1,
    INT32_MIN,
    INT32_MAX,
    -((int64_t)1 << 32),
    (int64_t)1 << 31,
    (int64_t)1 << 32,
    ((int64_t)1 << 32) + 1,
    ((int64_t)1 << 62) / WIDTH,
    INT64_MIN,
    INT64_MIN + 1,
    INT64_MAX,
};
enum { VALUE_COUNT = sizeof values / sizeof *values };

static int stride = 1;
static float floats[SIDE * SIDE * SIDE * WIDTH];
static int64_t numbers[ROWS * DEPTH_MAX], shape[DEPTH_MAX + 1], ids[ROWS];

/* Indices that are in range, but for those that a test puts in. */
static struct tensor good_indices(enum dtype dtype, int depth)
{
    struct tensor t = {.dtype = dtype, .rank = 2, .shape = {ROWS, depth}, .data = numbers};
    for (int i = 0; i < ROWS * depth; i++)
        index_store(numbers, dtype == DTYPE_INT32 ? 32 : 64, i, (i * 7 + i / depth) % SIDE);
    return t;
}

static struct tensor table_of(int depth)
{
    struct tensor t = {.dtype = DTYPE_FP32, .rank = depth + 1, .data = floats};
    for (int i = 0; i < depth; i++)
        t.shape[i] = SIDE;
    t.shape[depth] = WIDTH;
    return t;
}

/* The operation over a table of `depth` dimensions and rows of WIDTH; indices are good. */
static struct kernel_run operation(const char *op, enum dtype dtype, int depth)
{
    struct kernel_run run = {.op = op, .in_place = true};
    struct tensor rows = {.dtype = DTYPE_FP32, .rank = 2, .shape = {ROWS, WIDTH}, .data = floats};
    struct tensor table = table_of(depth), indices = good_indices(dtype, depth);
    if (strcmp(op, "gather") == 0)
        indices.rank = 1;
    if (strncmp(op, "gather", 6) == 0) {
        run.inputs[0] = table;
        run.inputs[1] = indices;
    } else if (strcmp(op, "scatter_nd") == 0) {
        for (int i = 0; i <= depth; i++)
            shape[i] = table.shape[i];
        run.inputs[0] = indices;
        run.inputs[1] = rows;
        run.inputs[2] =
            (struct tensor){.dtype = DTYPE_INT64, .rank = 1, .shape = {depth + 1}, .data = shape};
    } else if (strcmp(op, "sparse_segment_mean") == 0) {
        for (int i = 0; i < ROWS; i++)
            ids[i] = i / 2;
        indices.rank = 1;
        run.inputs[0] = table;
        run.inputs[1] = indices;
        run.inputs[2] =
            (struct tensor){.dtype = DTYPE_INT64, .rank = 1, .shape = {ROWS}, .data = ids};
    } else {
        run.inputs[0] = table;
        run.inputs[1] = indices;
        run.inputs[2] = rows;
    }
    return run;
}

/* Puts each value at each place of the indices, under both policies. */
static void attack(const char *op, enum dtype dtype, int depth)
{
    char name[128];
    int bits = dtype == DTYPE_INT32 ? 32 : 64;
    for (int place = 0; place < ROWS * depth; place += stride)
        for (int v = 0; v < VALUE_COUNT; v++) {
            struct kernel_run run = operation(op, dtype, depth);
            index_store(numbers, bits, place, values[v]);
            index_store(numbers, bits, ROWS * depth - 1, values[v]);
            for (int ignore = 0; ignore < 2; ignore++) {
                run.ignore_bad = ignore;
                snprintf(name, sizeof name, "%lld at %d", (long long)values[v], place);
                compare_with_cpu(&run, backend_cuda(), NULL, name);
            }
        }
}

static void attack_all(const char *op, int depth_max)
{
    for (int depth = 1; depth <= depth_max; depth++) {
        attack(op, DTYPE_INT32, depth);
        attack(op, DTYPE_INT64, depth);
    }
}

static void hostile_indices_of_a_scatter_with_arithmetic(void **state)
{
    (void)state;
    attack_all("tensor_scatter_add", DEPTH_MAX);
}

static void hostile_indices_of_an_update(void **state)
{
    (void)state;
    attack_all("tensor_scatter_update", DEPTH_MAX);
}

static void hostile_indices_of_a_scatter_into_zeros(void **state)
{
    (void)state;
    attack_all("scatter_nd", DEPTH_MAX);
}

static void hostile_indices_of_a_gather(void **state)
{
    (void)state;
    attack_all("gather_nd", DEPTH_MAX);
    attack_all("gather", 1);
}

static void hostile_indices_of_segments(void **state)
{
    (void)state;
    attack_all("sparse_segment_mean", 1);
}

static void hostile_segment_ids(void **state)
{
    char name[128];
    (void)state;
    for (int place = 0; place < ROWS; place++)
        for (int v = 0; v < VALUE_COUNT; v++) {
            struct kernel_run run = operation("sparse_segment_mean", DTYPE_INT32, 1);
            int64_t segments = ROWS;
            run.inputs[3] = (struct tensor){.dtype = DTYPE_INT64, .rank = 0, .data = &segments};
            ids[place] = values[v];
            for (int ignore = 0; ignore < 2; ignore++) {
                run.ignore_bad = ignore;
                snprintf(name, sizeof name, "segment %lld at %d", (long long)values[v], place);
                compare_with_cpu(&run, backend_cuda(), NULL, name);
            }
        }
}

/* Rows with ids of their own: sorted ones, and those that a scatter and that a sort go by. */
static void hostile_ids_of_rows(void **state)
{
    static const char *const ops[] = {"segment_sum", "unsorted_segment_sum", "unsorted_segment_max",
                                      "unsorted_segment_mean"};
    char name[128];
    (void)state;
    for (int i = 0; i < 4 * ROWS * VALUE_COUNT * 2; i++) {
        int place = i / 8 % ROWS, bits = i / 4 % 2 ? 32 : 64;
        int64_t segments = SIDE, value = values[i / 8 / ROWS];
        struct kernel_run run = {.op = ops[i % 4]};
        run.inputs[0] = (struct tensor){DTYPE_FP32, 2, {ROWS, WIDTH}, floats};
        run.inputs[1] = (struct tensor){bits == 32 ? DTYPE_INT32 : DTYPE_INT64, 1, {ROWS}, ids};
        if (i % 4 > 0)
            run.inputs[2] = (struct tensor){DTYPE_INT64, 0, {0}, &segments};
        for (int k = 0; k < ROWS; k++)
            index_store(ids, bits, k, k / 2);
        index_store(ids, bits, place, value);
        if (i % 4 == 0 && place == ROWS - 1 && value >= INT32_MAX)
            continue; /* so large an output is refused when it is planned */
        snprintf(name, sizeof name, "id %lld at %d", (long long)value, place);
        compare_with_cpu(&run, backend_cuda(), NULL, name);
    }
}

/* A zero among the addressed dimensions makes every row out of bounds. */
static void every_row_of_an_empty_table_is_out_of_bounds(void **state)
{
    (void)state;
    for (int ignore = 0; ignore < 2; ignore++) {
        struct kernel_run run = operation("tensor_scatter_add", DTYPE_INT32, 2);
        run.inputs[0].shape[1] = 0;
        run.ignore_bad = ignore;
        compare_with_cpu(&run, backend_cuda(), NULL, "no rows");
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        stride = atoi(argv[1]);
    for (int i = 0; i < (int)(sizeof floats / sizeof *floats); i++)
        floats[i] = (float)i / 8;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_indices_of_a_scatter_with_arithmetic),
        cmocka_unit_test(hostile_indices_of_an_update),
        cmocka_unit_test(hostile_indices_of_a_scatter_into_zeros),
        cmocka_unit_test(hostile_indices_of_a_gather),
        cmocka_unit_test(hostile_indices_of_segments),
        cmocka_unit_test(hostile_segment_ids),
        cmocka_unit_test(hostile_ids_of_rows),
        cmocka_unit_test(every_row_of_an_empty_table_is_out_of_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
