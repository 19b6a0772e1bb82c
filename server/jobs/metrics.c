#include "server/jobs/metrics.h"

#include "server/base/clock.h"
#include "server/base/units.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define US UINT64_C(1000)

const uint64_t metrics_bounds[METRICS_BUCKETS] = {
    50 * US,    100 * US,    250 * US,    500 * US,    1 * MSEC,   2500 * US,
    5 * MSEC,   10 * MSEC,   25 * MSEC,   50 * MSEC,   100 * MSEC, 250 * MSEC,
    500 * MSEC, 1000 * MSEC, 2500 * MSEC, 5000 * MSEC, 10 * SEC,
};

enum { NUMBERS = sizeof(struct op_totals) / sizeof(uint64_t) };

_Static_assert(sizeof(struct op_counters) == sizeof(struct op_totals), "the same fields");

enum error_code metrics_init(struct metrics *metrics, int shards, struct error *error)
{
    assert(shards <= METRICS_SHARDS_MAX);
    *metrics = (struct metrics){0};
    for (int i = 0; i < shards; i++) {
        struct metrics_shard *shard = aligned_alloc(64, sizeof *shard);
        if (!shard) {
            metrics_release(metrics);
            return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for metrics");
        }
        memset(shard, 0, sizeof *shard);
        metrics->shards[metrics->shard_count++] = shard;
    }
    return ERROR_NONE;
}

void metrics_release(struct metrics *metrics)
{
    for (int i = 0; i < metrics->shard_count; i++)
        free(metrics->shards[i]);
    metrics->shard_count = 0;
}

/* One writer: no locked instruction is needed. */
static void add(metrics_number *number, uint64_t n)
{
    uint64_t old = atomic_load_explicit(number, memory_order_relaxed);
    atomic_store_explicit(number, old + n, memory_order_relaxed);
}

static int bucket_of(uint64_t ns)
{
    int i = 0;
    while (i < METRICS_BUCKETS && ns > metrics_bounds[i])
        i++;
    return i;
}

int metrics_op_number(const struct op *op)
{
    for (int i = 0; i < op_count(); i++)
        if (op_at(i) == op)
            return i;
    return METRICS_OTHER;
}

void metrics_observe(struct metrics_shard *shard, const struct observation *seen)
{
    struct op_counters *c = &shard->ops[metrics_op_number(seen->op)];
    for (int t = 0; t < METRICS_TIMES; t++) {
        add(&c->buckets[t][bucket_of(seen->ns[t])], 1);
        add(&c->sum_ns[t], seen->ns[t]);
        if (seen->code == ERROR_NONE)
            add(&c->success_ns[t], seen->ns[t]);
    }
    if (seen->code != ERROR_NONE)
        add(&c->fail_ns, seen->ns[METRICS_TOTAL]);
    add(&c->bytes_in, seen->bytes_in);
    add(&c->bytes_out, seen->bytes_out);
    atomic_store_explicit(&c->last_ms, clock_wall_ms(), memory_order_relaxed);
    /* Last: whoever sees the count sees the rest. */
    atomic_store_explicit(&c->codes[seen->code],
                          atomic_load_explicit(&c->codes[seen->code], memory_order_relaxed) + 1,
                          memory_order_release);
}

void metrics_total(const struct metrics *metrics, int op, struct op_totals *totals)
{
    uint64_t *sums = (uint64_t *)totals;
    uint64_t last_ms = 0;
    memset(totals, 0, sizeof *totals);
    for (int i = 0; i < metrics->shard_count; i++) {
        struct op_counters *c = &metrics->shards[i]->ops[op];
        metrics_number *numbers = (metrics_number *)c;
        for (int n = 0; n < NUMBERS; n++)
            sums[n] += atomic_load_explicit(&numbers[n], memory_order_acquire);
        uint64_t ms = atomic_load_explicit(&c->last_ms, memory_order_relaxed);
        last_ms = ms > last_ms ? ms : last_ms;
    }
    totals->last_ms = last_ms;
}

bool metrics_reached(const struct op_totals *totals)
{
    for (int code = 0; code < ERROR_CODE_COUNT; code++)
        if (totals->codes[code])
            return true;
    return false;
}

void metrics_op_stats(const struct metrics *metrics, int op, struct op_stats *stats)
{
    struct op_totals t;
    uint64_t failed = 0;
    metrics_total(metrics, op, &t);
    for (int code = ERROR_NONE + 1; code < ERROR_CODE_COUNT; code++)
        failed += t.codes[code];
    uint64_t ok = t.codes[ERROR_NONE];
    *stats = (struct op_stats){
        .success = {ok, t.success_ns[METRICS_TOTAL]},
        .fail = {failed, t.fail_ns},
        .queue = {ok, t.success_ns[METRICS_QUEUE]},
        .compute_input = {ok, t.success_ns[METRICS_PARSE]},
        .compute_infer = {ok, t.success_ns[METRICS_COMPUTE]},
        .compute_output = {ok, t.success_ns[METRICS_ENCODE]},
        .last_inference_ms = (int64_t)t.last_ms,
    };
}
