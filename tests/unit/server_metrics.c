/* metrics: counted by operation, in shards, read as Prometheus and as Triton would. */
#include "server/jobs/metrics.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct metrics metrics;
static struct error error;

static int set_up(void **state)
{
    (void)state;
    return metrics_init(&metrics, 2, &error) != ERROR_NONE;
}

static int tear_down(void **state)
{
    (void)state;
    metrics_release(&metrics);
    return 0;
}

static struct observation seen(int op, enum error_code code, uint64_t ns)
{
    return (struct observation){.op = op_at(op),
                                .code = code,
                                .ns = {ns, 2 * ns, 3 * ns, 4 * ns, 10 * ns},
                                .bytes_in = 100,
                                .bytes_out = 10};
}

static void everything_starts_at_zero(void **state)
{
    struct op_totals totals;
    (void)state;
    for (int op = 0; op < op_count(); op++) {
        metrics_total(&metrics, op, &totals);
        for (size_t i = 0; i < sizeof totals; i++)
            assert_int_equal(((unsigned char *)&totals)[i], 0);
    }
}

static void shards_add_up(void **state)
{
    struct op_totals totals;
    struct observation one = seen(2, ERROR_NONE, 1000);
    (void)state;
    metrics_observe(metrics.shards[0], &one);
    metrics_observe(metrics.shards[1], &one);
    metrics_observe(metrics.shards[1], &one);
    metrics_total(&metrics, 2, &totals);
    assert_int_equal(totals.codes[ERROR_NONE], 3);
    assert_int_equal(totals.sum_ns[METRICS_TOTAL], 30000);
    assert_int_equal(totals.bytes_in, 300);
    assert_int_equal(totals.bytes_out, 30);
    assert_true(totals.last_ms > 0);
    metrics_total(&metrics, 1, &totals);
    assert_int_equal(totals.codes[ERROR_NONE], 0);
}

static void buckets_hold_their_upper_bound(void **state)
{
    struct op_totals totals;
    struct observation one = {.op = op_at(0)};
    (void)state;
    for (int i = 0; i < METRICS_BUCKETS; i++) {
        one.ns[METRICS_QUEUE] = metrics_bounds[i];
        metrics_observe(metrics.shards[0], &one);
    }
    one.ns[METRICS_QUEUE] = metrics_bounds[METRICS_BUCKETS - 1] + 1;
    metrics_observe(metrics.shards[0], &one);
    metrics_total(&metrics, 0, &totals);
    for (int i = 0; i <= METRICS_BUCKETS; i++)
        assert_int_equal(totals.buckets[METRICS_QUEUE][i], 1);
    assert_int_equal(metrics_bounds[0], 50000);
    assert_int_equal(metrics_bounds[METRICS_BUCKETS - 1], 10000000000);
}

static void errors_count_by_code_and_as_failures(void **state)
{
    struct op_totals totals;
    struct op_stats stats;
    struct observation good = seen(1, ERROR_NONE, 1000), bad = seen(1, ERROR_QUEUE_FULL, 500);
    (void)state;
    metrics_observe(metrics.shards[0], &good);
    metrics_observe(metrics.shards[0], &bad);
    metrics_total(&metrics, 1, &totals);
    assert_int_equal(totals.codes[ERROR_QUEUE_FULL], 1);
    metrics_op_stats(&metrics, 1, &stats);
    assert_int_equal(stats.success.count, 1);
    assert_int_equal(stats.success.ns, 10000);
    assert_int_equal(stats.fail.count, 1);
    assert_int_equal(stats.fail.ns, 5000);
    assert_int_equal(stats.compute_input.ns, 1000);
    assert_int_equal(stats.queue.ns, 2000);
    assert_int_equal(stats.compute_infer.ns, 3000);
    assert_int_equal(stats.compute_output.ns, 4000);
    assert_int_equal(stats.compute_output.count, 1);
}

static void requests_without_an_operation_have_their_own_place(void **state)
{
    struct op_totals totals;
    struct observation lost = {.op = NULL, .code = ERROR_NOT_FOUND};
    (void)state;
    metrics_observe(metrics.shards[0], &lost);
    metrics_total(&metrics, METRICS_OTHER, &totals);
    assert_int_equal(totals.codes[ERROR_NOT_FOUND], 1);
}

enum { OBSERVED = 20000 };

static void *observe_many(void *shard)
{
    struct observation one = seen(0, ERROR_NONE, 1);
    for (int i = 0; i < OBSERVED; i++)
        metrics_observe(shard, &one);
    return NULL;
}

static void none_is_lost_while_others_read(void **state)
{
    pthread_t threads[2];
    struct op_totals totals;
    uint64_t before = 0;
    (void)state;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, observe_many, metrics.shards[i]);
    for (int i = 0; i < 100; i++) {
        metrics_total(&metrics, 0, &totals);
        assert_true(totals.codes[ERROR_NONE] >= before);
        before = totals.codes[ERROR_NONE];
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    metrics_total(&metrics, 0, &totals);
    assert_int_equal(totals.codes[ERROR_NONE], 2 * OBSERVED);
    assert_int_equal(totals.sum_ns[METRICS_TOTAL], 20 * OBSERVED);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(everything_starts_at_zero),
        TEST(shards_add_up),
        TEST(buckets_hold_their_upper_bound),
        TEST(errors_count_by_code_and_as_failures),
        TEST(requests_without_an_operation_have_their_own_place),
        TEST(none_is_lost_while_others_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
