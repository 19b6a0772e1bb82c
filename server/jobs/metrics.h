/* metrics: what was done so far, counted by operation. Each HTTP thread counts in a shard of its
 * own without locked instructions; readers add the shards up. */
#ifndef SERVER_JOBS_METRICS_H
#define SERVER_JOBS_METRICS_H

#include "kernels/error.h"
#include "kernels/op.h"
#include "proto/answer/describe.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
    METRICS_OTHER = OPS_MAX, /* requests that reach no operation */
    METRICS_OPS_MAX,
    METRICS_BUCKETS = 17, /* 50 us .. 10 s; one more holds the rest */
    METRICS_SHARDS_MAX = 128
};

/* Upper bounds of the buckets in nanoseconds. */
extern const uint64_t metrics_bounds[METRICS_BUCKETS];

enum metrics_time {
    METRICS_PARSE,
    METRICS_QUEUE,
    METRICS_COMPUTE,
    METRICS_ENCODE,
    METRICS_TOTAL,
    METRICS_LINE, /* waiting for resident tensors */
    METRICS_TIMES
};

/* A request that is over. */
struct observation {
    const struct op *op; /* NULL: reached none */
    enum error_code code;
    uint64_t ns[METRICS_TIMES];
    size_t bytes_in, bytes_out;
};

#define METRICS_FIELDS(NUMBER)                                                                     \
    NUMBER codes[ERROR_CODE_COUNT];                                                                \
    NUMBER buckets[METRICS_TIMES][METRICS_BUCKETS + 1];                                            \
    NUMBER sum_ns[METRICS_TIMES]; /* of all requests */                                            \
    NUMBER success_ns[METRICS_TIMES], fail_ns;                                                     \
    NUMBER bytes_in, bytes_out, last_ms;

typedef _Atomic uint64_t metrics_number;

struct op_counters {
    METRICS_FIELDS(metrics_number)
};

struct op_totals {
    METRICS_FIELDS(uint64_t)
};

struct metrics_shard {
    _Alignas(64) struct op_counters ops[METRICS_OPS_MAX];
};

struct metrics {
    struct metrics_shard *shards[METRICS_SHARDS_MAX];
    int shard_count;
};

/* Errors: RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code metrics_init(struct metrics *metrics, int shards, struct error *error);
void metrics_release(struct metrics *metrics);

/* Counts a request that is over. Only the shard's own thread calls this. */
void metrics_observe(struct metrics_shard *shard, const struct observation *seen);

/* Adds all shards up; `op` is a row's number in op's table, or METRICS_OTHER. */
void metrics_total(const struct metrics *metrics, int op, struct op_totals *totals);

/* Whether any request has been counted. */
bool metrics_reached(const struct op_totals *totals);

/* Adds all shards up in Triton's terms. */
void metrics_op_stats(const struct metrics *metrics, int op, struct op_stats *stats);

/* A row's number in op's table. */
int metrics_op_number(const struct op *op);

#endif
