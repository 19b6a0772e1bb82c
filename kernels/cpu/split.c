#include "kernels/cpu/split.h"
#include "kernels/flatten.h"
#include "kernels/team.h"

enum {
    SAMPLE = 256,                /* destinations looked at */
    COLUMN_BYTES = 128,          /* the least that is worth a thread, so that two share no line */
    STREAM_LEAST_BYTES = 8 << 20 /* a start value that may be written past the caches */
};

/* Nanoseconds; what differs much from one processor to the next is in struct machine. */
static const double DIRECT_NS = 0.7; /* an update of one cached element, nothing picked */
static const double PICKED_NS = 1.0; /* looking at an update */
static const double ROW_NS = 1.0;    /* applying one, besides its bytes */
static const double BYTE_NS = 0.03;
static const double START_NS = 0.15; /* a byte of the start value */
static const double FETCH_NS =
    0.03; /* a byte of an output that is fetched only to be overwritten */

static size_t row_bytes(const struct plan *plan)
{
    return (size_t)plan->rows.width * dtype_bytes(plan->dtype);
}

static bool is_cached(const struct plan *plan)
{
    return (double)plan->rows.limit * (double)row_bytes(plan) <=
           (double)plan_machine(plan)->second_level_bytes;
}

/* Whether the rows are in the caches before they are used: rows that are read one after the other
 * come by themselves. */
static bool is_near(const struct plan *plan)
{
    bool in_turn = plan->kind == PLAN_SEGMENT && !plan->rows.destination;
    return in_turn || is_cached(plan);
}

/* Cache lines that an update touches, at least in part. */
static double row_lines(double bytes)
{
    return 1 + bytes / 64;
}

/* ----------------------------------------------------------------------------- who owns which */

/* Rows that are shared: of the indices for a gather, else of the output. */
static int64_t shared_rows(const struct plan *plan)
{
    switch (plan->kind) {
    case PLAN_GATHER:
        return plan->rows.count;
    case PLAN_SEGMENT:
        return plan->output.shape[0];
    case PLAN_SCATTER:
        break;
    }
    return plan->rows.limit;
}

int64_t split_first_pair(const struct plan *plan, int64_t row)
{
    return ids_first_not_below(plan->rows.segment, plan->rows.segment_bits, plan->rows.count, row);
}

/* Segments are shared so that each thread has as many pairs, or as many rows where writing them is
 * most of the work. */
static int64_t first_row(const struct plan *plan, int threads, int i)
{
    int64_t rows = shared_rows(plan), pairs = plan->rows.count;
    if (plan->kind == PLAN_SEGMENT && pairs >= rows && 0 < i && i < threads)
        return index_load(plan->rows.segment, plan->rows.segment_bits, pairs * i / threads);
    return rows * i / threads;
}

/* Columns are cut between cache lines of a row that begins with one. */
static int64_t first_column(const struct plan *plan, int threads, int i)
{
    int64_t width = plan->rows.width, line = 64 / (int64_t)dtype_bytes(plan->dtype);
    return i == threads ? width : width * i / threads / line * line;
}

struct share split_share(const struct plan *plan, const struct split *split, int i)
{
    int t = split->threads;
    struct share share = {
        .plan = plan,
        .low = split->columns ? 0 : first_row(plan, t, i),
        .high = split->columns ? shared_rows(plan) : first_row(plan, t, i + 1),
        .column = split->columns ? first_column(plan, t, i) : 0,
        .all = (t == 1 || split->columns) && !plan->rows.left_out,
    };
    share.columns =
        (split->columns ? first_column(plan, t, i + 1) : plan->rows.width) - share.column;
    share.direct = share.all && is_cached(plan);
    return share;
}

struct share split_rows(const struct plan *plan, const struct split *split, int i)
{
    struct split by_rows = {.threads = split->threads};
    return split_share(plan, &by_rows, i);
}

/* ---------------------------------------------------------------------------------- the model */

/* The busiest thread's part of the updates when each owns as many rows: by a sample. */
static double busiest_owner(const struct plan *plan, int threads)
{
    const struct rows *rows = &plan->rows;
    int counts[TEAM_MAX] = {0}, most = 0, sampled = 0;
    for (int i = 0; i < SAMPLE; i++) {
        int64_t k = rows->count / SAMPLE * i;
        int64_t row = index_load(rows->destination, rows->destination_bits, k);
        if (row < 0)
            continue;
        int *count = &counts[((__int128)(row + 1) * threads - 1) / rows->limit];
        most = ++*count > most ? *count : most;
        sampled++;
    }
    return sampled ? (double)most / sampled : 0;
}

/* The busiest thread's part of the pairs, counted. */
static double busiest_segments(const struct plan *plan, int threads)
{
    int64_t most = 0, first = 0;
    for (int i = 1; i <= threads; i++) {
        int64_t next = split_first_pair(plan, first_row(plan, threads, i));
        most = next - first > most ? next - first : most;
        first = next;
    }
    return (double)most / (double)plan->rows.count;
}

/* The part of the updates that the busiest thread applies: all of them when it owns columns. */
static double busiest(const struct plan *plan, const struct split *split)
{
    int threads = split->threads;
    if (threads == 1 || split->columns)
        return 1;
    if (plan->kind == PLAN_GATHER || plan->rows.count < SAMPLE)
        return 1.0 / threads;
    return plan->kind == PLAN_SEGMENT ? busiest_segments(plan, threads)
                                      : busiest_owner(plan, threads);
}

/* Applying one update: to a row, or to a thread's columns of it. */
static double update_ns(const struct plan *plan, const struct split *split)
{
    double bytes = (double)row_bytes(plan) / (split->columns ? split->threads : 1);
    return ROW_NS + bytes * BYTE_NS +
           (is_near(plan) ? 0 : row_lines(bytes) * plan_machine(plan)->line_ns);
}

static double time_ns(const struct plan *plan, const struct split *split)
{
    bool scatters = plan->kind == PLAN_SCATTER;
    bool starts =
        plan->kind != PLAN_GATHER && !(plan->start && plan->start->data == plan->output.data);
    double updates = (double)plan->rows.count, picked = scatters ? PICKED_NS : 0;
    double start = starts ? (double)plan->output_bytes * START_NS : 0;
    if (scatters && split->threads == 1 && plan->rows.width == 1 && is_cached(plan))
        return updates * DIRECT_NS + start;
    return updates * (picked + update_ns(plan, split) * busiest(plan, split)) +
           start / split->threads + (split->threads > 1 ? plan_machine(plan)->team_ns : 0);
}

/* Whether the start value is written past the caches. That spares fetching what it overwrites; but
 * an output that the third level holds is then fetched for each update instead. */
static bool streams(const struct plan *plan)
{
    double bytes = (double)plan->output_bytes, updates = (double)plan->rows.count;
    double misses = row_lines((double)row_bytes(plan)) * plan_machine(plan)->line_ns;
    if (plan->output_bytes < STREAM_LEAST_BYTES)
        return false;
    return plan->output_bytes > plan_machine(plan)->third_level_bytes ||
           updates * misses < bytes * FETCH_NS;
}

/* The least time that a split can take, however the updates fall: for most tables of single
 * elements it says that no sample is needed. */
static double least_ns(const struct plan *plan, const struct split *split)
{
    double picked = plan->kind == PLAN_SCATTER ? PICKED_NS : 0;
    double part = split->columns ? 1 : 1.0 / split->threads;
    return (double)plan->rows.count * (picked + update_ns(plan, split) * part) +
           plan_machine(plan)->team_ns;
}

static void consider(struct split *best, double *best_ns, const struct plan *plan,
                     struct split split)
{
    if (least_ns(plan, &split) >= *best_ns)
        return;
    double ns = time_ns(plan, &split);
    if (ns >= *best_ns)
        return;
    *best = split;
    *best_ns = ns;
}

struct split split_choose(const struct plan *plan)
{
    int most = plan->options.threads < TEAM_MAX ? plan->options.threads : TEAM_MAX;
    struct split best = {.threads = 1, .streams = streams(plan)};
    double best_ns = time_ns(plan, &best);
    if (best_ns < 2 * plan_machine(plan)->team_ns)
        return best;
    for (int t = most; t > 1; t /= 2) {
        struct split split = {.threads = t, .streams = best.streams};
        consider(&best, &best_ns, plan, split);
        split.columns = true;
        if (plan->kind != PLAN_GATHER && row_bytes(plan) >= (size_t)t * COLUMN_BYTES)
            consider(&best, &best_ns, plan, split);
    }
    return best;
}
