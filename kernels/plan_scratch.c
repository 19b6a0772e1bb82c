/* What a plan's kernels need besides inputs and output, in bytes. */
#include "kernels/plan_parts.h"

#include <assert.h>

/* Fewer rows are flattened by one thread, in place: a team would take longer to gather. */
enum { FLATTEN_TEAM_ROWS = 65536 };

static size_t aligned(size_t bytes)
{
    return (bytes + TENSOR_ALIGNMENT - 1) / TENSOR_ALIGNMENT * TENSOR_ALIGNMENT;
}

/* Indices that are read only are marked in a copy. */
static size_t marked_bytes(const struct plan *plan, bool read_only)
{
    return read_only && plan->options.ignore_bad
               ? aligned((size_t)plan->rows.count * dtype_bytes(plan->indices->dtype))
               : 0;
}

/* One thread flattens tuples in place, in the type of the indices, when their row numbers fit and
 * the indices may be written. */
static size_t flat_bytes(const struct plan *plan)
{
    const struct rows *rows = &plan->rows;
    if (!plan->indices)
        return 0;
    bool read_only = plan->options.read_only >> (plan->indices - plan->inputs) & 1;
    bool narrow = rows->limit <= INT32_MAX;
    bool fits = narrow || plan->indices->dtype == DTYPE_INT64;
    bool team = plan->options.threads > 1 && rows->count >= FLATTEN_TEAM_ROWS;
    if (rows->depth == 1)
        return marked_bytes(plan, read_only);
    if (rows->depth == 0 || (fits && !team && !read_only))
        return 0;
    return aligned((size_t)rows->count * (narrow ? 4 : 8));
}

static size_t spans_bytes(const struct tensor *t)
{
    const struct span *spans = t->data;
    int64_t count = plan_product(t->shape, 0, t->rank);
    size_t bytes = 0;
    for (int64_t i = 0; i < count; i++)
        bytes += spans[i].size;
    return bytes;
}

/* CONCAT puts its text there. SET needs a bit per row to find the last write, but only when the
 * text of both inputs together may exceed the limit. */
static size_t text_scratch_bytes(const struct plan *plan)
{
    if (plan->combine == COMBINE_CONCAT)
        return aligned(spans_bytes(plan->values));
    if (plan->dtype != DTYPE_BYTES || !plan->start)
        return 0;
    size_t elements = plan->output_bytes / sizeof(struct span);
    size_t most =
        BYTES_SIZE_BYTES * elements + spans_bytes(plan->start) + spans_bytes(plan->values);
    return most > plan->options.output_limit ? aligned((size_t)plan->rows.limit / 8 + 1) : 0;
}

/* What a scatter keeps for each row of its output besides sums: whether an update was met, or how
 * many there were. */
static size_t tally_bytes(const struct plan *plan)
{
    size_t rows = (size_t)plan->rows.limit;
    if (plan->kind != PLAN_SCATTER || plan->output_bytes == 0)
        return 0;
    if (plan->op->finish != FINISH_NONE)
        return aligned(rows * sizeof(int64_t));
    return plan->from_first ? aligned(rows) : 0;
}

static size_t sums_bytes(const struct plan *plan)
{
    bool sums = plan->kind == PLAN_SCATTER && plan->op->finish != FINISH_NONE;
    return sums && plan->dtype != DTYPE_FP32 && plan->dtype != DTYPE_FP64
               ? aligned(plan->output_bytes / dtype_bytes(plan->dtype) * sizeof(float))
               : 0;
}

void plan_size_scratch(struct plan *plan)
{
    plan->sums_bytes = sums_bytes(plan);
    plan->scratch_bytes = text_scratch_bytes(plan) + plan->sums_bytes + tally_bytes(plan);
    plan_use_threads(plan, plan->options.threads);
}

void plan_use_threads(struct plan *plan, int threads)
{
    assert(threads >= 1);
    plan->options.threads = threads;
    plan->scratch_bytes -= plan->flat_bytes;
    plan->flat_bytes = flat_bytes(plan);
    plan->scratch_bytes += plan->flat_bytes;
}
