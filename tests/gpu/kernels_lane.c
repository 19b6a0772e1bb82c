/* What a lane promises besides right answers: its memory, its transfers, being stopped, and not to
 * mind another lane. */
#include "tests/gpu/support/calls.h"
#include "tests/gpu/support/compare.h"
#include "tests/gpu/support/random_case.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct lane *open_lane(size_t memory_bytes)
{
    struct error error;
    struct lane *lane = backend_cuda()->open(0, memory_bytes, &error);
    assert_non_null(lane);
    return lane;
}

static int32_t indices[] = {3, 0, 3};

/* Three updates of a table of `rows` rows of `width` floats. */
static struct kernel_run update_of(void *table, int64_t rows, void *updates, int64_t width)
{
    return (struct kernel_run){
        .op = "tensor_scatter_add",
        .in_place = true,
        .inputs = {{.dtype = DTYPE_FP32, .rank = 2, .shape = {rows, width}, .data = table},
                   {.dtype = DTYPE_INT32, .rank = 2, .shape = {3, 1}, .data = indices},
                   {.dtype = DTYPE_FP32, .rank = 2, .shape = {3, width}, .data = updates}}};
}

static float *floats_new(size_t count)
{
    float *data = malloc(count * sizeof *data);
    assert_non_null(data);
    for (size_t i = 0; i < count; i++)
        data[i] = (float)(i % 1013);
    return data;
}

/* The tensor takes more pieces than there are pinned buffers, and the last piece is not full. */
static void large_tensors_travel_in_pieces(void **state)
{
    enum { WIDTH = 5, TABLE_ROWS = 700001 };
    float *table = floats_new((size_t)TABLE_ROWS * WIDTH), *updates = floats_new(3 * WIDTH);
    struct kernel_run run = update_of(table, TABLE_ROWS, updates, WIDTH);
    (void)state;
    calls_reset();
    compare_with_cpu(&run, backend_cuda(), NULL, "pieces");
    assert_int_equal(calls_counted(CALL_UPLOAD), 4 + 2);
    assert_int_equal(calls_counted(CALL_DOWNLOAD), 4 + 1);
    free(table);
    free(updates);
}

/* The request's memory is pinned: one copy each way, no pieces. */
static void pinned_memory_is_copied_as_a_whole(void **state)
{
    enum { WIDTH = 5, TABLE_ROWS = 700001 };
    size_t count = (size_t)TABLE_ROWS * WIDTH;
    float *table, *updates = floats_new(3 * WIDTH), *expected = floats_new(count);
    struct kernel_run run = update_of(expected, TABLE_ROWS, updates, WIDTH);
    struct plan_options options = {.output_limit = SIZE_MAX, .threads = 1};
    struct plan plan;
    struct error error;
    struct op_name name;
    (void)state;
    assert_int_equal(cudaHostAlloc((void **)&table, count * sizeof *table, 0), cudaSuccess);
    memcpy(table, expected, count * sizeof *table);
    assert_true(op_find(run.op, strlen(run.op), &name));
    assert_int_equal(kernel_run_do(&run), ERROR_NONE);

    run.inputs[0].data = table;
    assert_int_equal(plan_make(&plan, &name, run.inputs, &options, &error), ERROR_NONE);
    plan.output.data = table;
    struct lane *lane = open_lane(SIZE_MAX);
    calls_reset();
    assert_int_equal(backend_cuda()->run(lane, &plan, &error), ERROR_NONE);
    assert_int_equal(calls_counted(CALL_UPLOAD), 3);
    assert_int_equal(calls_counted(CALL_DOWNLOAD), 2);
    assert_memory_equal(table, run.plan.output.data, count * sizeof *table);
    backend_cuda()->close(lane);
    kernel_run_release(&run);
    assert_int_equal(cudaFreeHost(table), cudaSuccess);
    free(expected);
    free(updates);
}

static void a_stopped_job_ends_as_cancelled(void **state)
{
    enum { WIDTH = 4, TABLE_ROWS = 100 };
    atomic_bool stop = true;
    float *table = floats_new(TABLE_ROWS * WIDTH), *updates = floats_new(3 * WIDTH);
    struct kernel_run run = update_of(table, TABLE_ROWS, updates, WIDTH);
    (void)state;
    run.backend = backend_cuda();
    run.stop = &stop;
    assert_int_equal(kernel_run_do(&run), ERROR_CANCELLED);
    kernel_run_release(&run);
    run.stop = NULL;
    compare_with_cpu(&run, backend_cuda(), NULL, "not stopped");
    free(table);
    free(updates);
}

static size_t needs(struct kernel_run *run)
{
    run->backend = backend_cuda();
    assert_int_equal(kernel_run_do(run), ERROR_NONE);
    size_t bytes = backend_cuda()->memory(&run->plan);
    kernel_run_release(run);
    return bytes;
}

static void a_lane_takes_no_more_memory_than_it_may(void **state)
{
    enum { WIDTH = 4, TABLE_ROWS = 100 };
    float *table = floats_new(TABLE_ROWS * WIDTH), *updates = floats_new(3 * WIDTH);
    struct kernel_run run = update_of(table, TABLE_ROWS, updates, WIDTH);
    size_t bytes = needs(&run);
    (void)state;
    assert_true(bytes >= TABLE_ROWS * WIDTH * sizeof *table + 3 * WIDTH * sizeof *updates);

    run.lane = open_lane(bytes - 1);
    assert_int_equal(kernel_run_do(&run), ERROR_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(run.error.message, "bytes of memory on CUDA device 0"));
    kernel_run_release(&run);
    backend_cuda()->close(run.lane);

    run.lane = open_lane(bytes);
    compare_with_cpu(&run, backend_cuda(), run.lane, "just enough");
    backend_cuda()->close(run.lane);
    free(table);
    free(updates);
}

/* One run has a large table, the other wide updates: their buffers together exceed what a lane may
 * have. */
static void buffers_make_room_for_others(void **state)
{
    enum { LONG = 4000, WIDE = 4000 };
    float *table = floats_new(LONG * 2), *updates = floats_new(3 * WIDE);
    struct kernel_run narrow = update_of(table, LONG, updates, 1);
    struct kernel_run wide = update_of(table, 4, updates, 2000);
    size_t narrow_bytes = needs(&narrow), wide_bytes = needs(&wide);
    struct lane *lane = open_lane(narrow_bytes > wide_bytes ? narrow_bytes : wide_bytes);
    (void)state;
    for (int i = 0; i < 3; i++) {
        compare_with_cpu(&narrow, backend_cuda(), lane, "narrow");
        compare_with_cpu(&wide, backend_cuda(), lane, "wide");
    }
    backend_cuda()->close(lane);
    free(table);
    free(updates);
}

static void a_lane_keeps_its_buffers(void **state)
{
    float *table = floats_new(400), *updates = floats_new(12);
    struct kernel_run run = update_of(table, 100, updates, 4);
    struct lane *lane = open_lane(SIZE_MAX);
    (void)state;
    calls_reset();
    compare_with_cpu(&run, backend_cuda(), lane, "first");
    int first = calls_counted(CALL_MALLOC);
    compare_with_cpu(&run, backend_cuda(), lane, "second");
    assert_true(first > 0);
    assert_int_equal(calls_counted(CALL_MALLOC), first);
    backend_cuda()->close(lane);
    free(table);
    free(updates);
}

static void bytes_stay_on_the_cpu(void **state)
{
    struct span spans[] = {{"a", 1}, {"b", 1}};
    int64_t places[] = {0};
    struct plan plan;
    struct plan_options options = {.output_limit = SIZE_MAX, .threads = 1};
    struct op_name name;
    struct error error;
    struct tensor inputs[OP_INPUTS_MAX] = {
        {.dtype = DTYPE_BYTES, .rank = 1, .shape = {2}, .data = spans},
        {.dtype = DTYPE_INT64, .rank = 2, .shape = {1, 1}, .data = places}};
    (void)state;
    assert_true(op_find("gather_nd", 9, &name));
    assert_int_equal(plan_make(&plan, &name, inputs, &options, &error), ERROR_NONE);
    assert_false(backend_cuda()->can_run(&plan));
}

static void *use_a_lane(void *context)
{
    struct lane *lane = context;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct random_case c;
        random_case_make(&c, NULL, 1000 + seed, SIZE_TINY);
        c.run.backend = backend_cuda();
        c.run.lane = lane;
        enum error_code code = kernel_run_do(&c.run);
        if (code == ERROR_INTERNAL || code == ERROR_RESOURCE_EXHAUSTED)
            return lane;
        kernel_run_release(&c.run);
        random_case_release(&c);
    }
    return NULL;
}

static void two_lanes_work_at_a_time(void **state)
{
    pthread_t threads[2];
    struct lane *lanes[2] = {open_lane(SIZE_MAX), open_lane(SIZE_MAX)};
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_a_lane, lanes[i]), 0);
    for (int i = 0; i < 2; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
        backend_cuda()->close(lanes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_tensors_travel_in_pieces),
        cmocka_unit_test(pinned_memory_is_copied_as_a_whole),
        cmocka_unit_test(a_stopped_job_ends_as_cancelled),
        cmocka_unit_test(a_lane_takes_no_more_memory_than_it_may),
        cmocka_unit_test(buffers_make_room_for_others),
        cmocka_unit_test(a_lane_keeps_its_buffers),
        cmocka_unit_test(bytes_stay_on_the_cpu),
        cmocka_unit_test(two_lanes_work_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
