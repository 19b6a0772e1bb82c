#include "kernels/check.h"
#include "kernels/fault.h"
#include "kernels/flatten.h"

#include <omp.h>

/* Passes over fewer rows are made by one thread: a team would take longer to gather. */
enum { TEAM_ROWS = 32768, BLOCK = 1024 };

/* ------------------------------------------------------------------------------- segment ids */

/* First place in [from, to) where an id is below the one before it, or `to`. Blocks are scanned
 * without a branch, so that the compiler makes vectors of them. */
ALWAYS_INLINE int64_t first_decrease(const void *ids, int bits, int64_t from, int64_t to)
{
    for (int64_t k = from; k < to;) {
        int64_t end = to - k < BLOCK ? to : k + BLOCK;
        unsigned decreases = 0;
        for (int64_t i = k; i < end; i++)
            decreases |= index_load(ids, bits, i) < index_load(ids, bits, i - 1);
        if (!decreases) {
            k = end;
            continue;
        }
        while (index_load(ids, bits, k) >= index_load(ids, bits, k - 1))
            k++;
        return k;
    }
    return to;
}

/* First id of the sorted ids that is not below `bound`. */
static int64_t first_not_below(const void *ids, int bits, int64_t count, int64_t bound)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (index_load(ids, bits, middle) < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum error_code check_segment_ids(const struct plan *plan, struct error *error)
{
    if (!plan->segment_ids || plan->rows.count == 0)
        return ERROR_NONE;
    const void *ids = plan->segment_ids->data;
    int bits = plan->segment_ids->dtype == DTYPE_INT32 ? 32 : 64;
    int64_t count = plan->rows.count;
    for (int64_t k = 1; k < count; k += PLAN_STOP_ELEMENTS) {
        int64_t end = count - k < PLAN_STOP_ELEMENTS ? count : k + PLAN_STOP_ELEMENTS;
        int64_t bad =
            bits == 32 ? first_decrease(ids, 32, k, end) : first_decrease(ids, 64, k, end);
        if (bad < end)
            return fault_unsorted(plan, bad, error);
        if (plan_stopped(plan))
            return fault_cancelled(error);
    }
    if (index_load(ids, bits, 0) < 0)
        return fault_segment(plan, 0, error);
    int64_t bad = first_not_below(ids, bits, count, plan->output.shape[0]);
    return bad < count ? fault_segment(plan, bad, error) : ERROR_NONE;
}

/* ----------------------------------------------------------------------------------- indices */

/* A pass over some of the rows: what it is made from and what it found. */
struct pass {
    const struct rows *rows;
    void *indices;
    void *destination; /* D > 1: where the row numbers go */
    int index_bits;
    bool ignore_bad;
    int64_t first_bad; /* or the end of the part; unused under ignore_bad */
    int64_t bad;       /* rows marked under ignore_bad */
};

ALWAYS_INLINE int64_t first_outside(const void *indices, int bits, int64_t bound, int64_t from,
                                    int64_t to)
{
    while (from < to) {
        int64_t end = to - from < BLOCK ? to : from + BLOCK;
        unsigned outside = 0;
        for (int64_t k = from; k < end; k++)
            outside |= !index_inside(index_load(indices, bits, k), bound);
        if (outside)
            break;
        from = end;
    }
    while (from < to && index_inside(index_load(indices, bits, from), bound))
        from++;
    return from;
}

ALWAYS_INLINE void mark_outside(struct pass *pass, int bits, int64_t from, int64_t to)
{
    int64_t bound = pass->rows->bound[0];
    for (int64_t k = from; k < to; k++) {
        int64_t v = index_load(pass->indices, bits, k);
        bool inside = index_inside(v, bound);
        pass->bad += !inside;
        index_store(pass->indices, bits, k, inside ? v : -1);
    }
}

/* D = 1: the indices are the row numbers. */
ALWAYS_INLINE void check_numbers(struct pass *pass, int bits, int64_t from, int64_t to)
{
    int64_t bad = first_outside(pass->indices, bits, pass->rows->bound[0], from, to);
    pass->first_bad = bad;
    if (pass->ignore_bad)
        mark_outside(pass, bits, bad, to);
}

ALWAYS_INLINE void flatten_tuples(struct pass *pass, int bits, int row_bits, int depth,
                                  int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++) {
        int64_t row = flatten(pass->indices, bits, k, depth, pass->rows->bound);
        if (row < 0) {
            pass->first_bad = k;
            if (!pass->ignore_bad)
                return;
            pass->bad++;
        }
        index_store(pass->destination, row_bits, k, row);
    }
    pass->first_bad = to;
}

ALWAYS_INLINE void flatten_depth(struct pass *pass, int bits, int row_bits, int64_t from,
                                 int64_t to)
{
    switch (pass->rows->depth) {
    case 2:
        flatten_tuples(pass, bits, row_bits, 2, from, to);
        break;
    case 3:
        flatten_tuples(pass, bits, row_bits, 3, from, to);
        break;
    default:
        flatten_tuples(pass, bits, row_bits, pass->rows->depth, from, to);
    }
}

static void check_block(struct pass *pass, int64_t from, int64_t to)
{
    int row_bits = pass->rows->destination_bits;
    if (pass->rows->depth == 1)
        pass->index_bits == 32 ? check_numbers(pass, 32, from, to)
                               : check_numbers(pass, 64, from, to);
    else if (row_bits == 32)
        pass->index_bits == 32 ? flatten_depth(pass, 32, 32, from, to)
                               : flatten_depth(pass, 64, 32, from, to);
    else
        pass->index_bits == 32 ? flatten_depth(pass, 32, 64, from, to)
                               : flatten_depth(pass, 64, 64, from, to);
}

/* Returns the first bad row of [from, to), or the number of all rows when there is none. */
static int64_t check_part(const struct plan *plan, struct pass *pass, int64_t from, int64_t to)
{
    for (int64_t k = from; k < to && !plan_stopped(plan); k += PLAN_STOP_ELEMENTS) {
        int64_t end = to - k < PLAN_STOP_ELEMENTS ? to : k + PLAN_STOP_ELEMENTS;
        check_block(pass, k, end);
        if (!pass->ignore_bad && pass->first_bad < end)
            return pass->first_bad;
    }
    return plan->rows.count;
}

/* Where the row numbers go: nowhere for D = 1, else to the scratch that the plan asked for, or over
 * the tuples in their own type. */
static void place_destination(struct plan *plan, struct pass *pass)
{
    struct rows *rows = &plan->rows;
    rows->destination_bits = pass->index_bits;
    pass->destination = plan->indices->data;
    if (plan->flat_bytes) {
        pass->destination = plan->scratch;
        rows->destination_bits = rows->limit <= INT32_MAX ? 32 : 64;
    }
    rows->destination = pass->destination;
}

static int64_t check_by_team(struct plan *plan, const struct pass *shared, int threads,
                             int64_t *all_ignored)
{
    const struct rows *rows = &plan->rows;
    int64_t first = rows->count, ignored = 0;
#pragma omp parallel num_threads(threads) reduction(min : first) reduction(+ : ignored)
    {
        struct pass pass = *shared;
        int64_t me = omp_get_thread_num(), team = omp_get_num_threads();
        first = check_part(plan, &pass, rows->count * me / team, rows->count * (me + 1) / team);
        ignored = pass.bad;
    }
    *all_ignored = ignored;
    return first;
}

enum error_code check_indices(struct plan *plan, struct error *error)
{
    const struct rows *rows = &plan->rows;
    struct pass shared = {.rows = rows,
                          .indices = plan->indices->data,
                          .index_bits = plan->indices->dtype == DTYPE_INT32 ? 32 : 64,
                          .ignore_bad = plan->options.ignore_bad};
    place_destination(plan, &shared);
    plan->ignored = 0;
    if (rows->depth == 0 || rows->count == 0)
        return ERROR_NONE;

    bool in_place = rows->depth > 1 && !plan->flat_bytes;
    int threads = rows->count < TEAM_ROWS || in_place ? 1 : plan->options.threads;
    int64_t first, ignored;
    if (threads == 1) {
        /* Entering and leaving a parallel region costs system calls. */
        first = check_part(plan, &shared, 0, rows->count);
        ignored = shared.bad;
    } else {
        first = check_by_team(plan, &shared, threads, &ignored);
    }
    if (plan_stopped(plan))
        return fault_cancelled(error);
    if (!shared.ignore_bad && first < rows->count)
        return fault_index(plan, first, error);
    plan->ignored = ignored;
    return ERROR_NONE;
}

/* ---------------------------------------------------------------------------------- division */

ALWAYS_INLINE bool holds_zero(const void *values, size_t bytes, int64_t from, int64_t to)
{
    unsigned zero = 0;
    for (int64_t i = from; i < to; i++)
        zero |= bytes == 1   ? ((const uint8_t *)values)[i] == 0
                : bytes == 2 ? ((const uint16_t *)values)[i] == 0
                : bytes == 4 ? ((const uint32_t *)values)[i] == 0
                             : ((const uint64_t *)values)[i] == 0;
    return zero;
}

static bool part_holds_zero(const struct tensor *t, int64_t from, int64_t to)
{
    switch (dtype_bytes(t->dtype)) {
    case 1:
        return holds_zero(t->data, 1, from, to);
    case 2:
        return holds_zero(t->data, 2, from, to);
    case 4:
        return holds_zero(t->data, 4, from, to);
    default:
        return holds_zero(t->data, 8, from, to);
    }
}

static bool is_integer(enum dtype d)
{
#define X(ID, ...) | DTYPE_BIT(ID)
    static const dtype_set integers = 0 DTYPE_SIGNED(X) DTYPE_UNSIGNED(X);
#undef X
    return integers >> d & 1;
}

enum error_code check_division(const struct plan *plan, struct error *error)
{
    const struct rows *rows = &plan->rows;
    if (plan->combine != COMBINE_DIV || !is_integer(plan->dtype) || rows->width == 0)
        return ERROR_NONE;
    for (int64_t k = 0; k < rows->count; k++) {
        if (k * rows->width % PLAN_STOP_ELEMENTS == 0 && plan_stopped(plan))
            return fault_cancelled(error);
        if (part_holds_zero(plan->values, k * rows->width, (k + 1) * rows->width) &&
            index_load(rows->destination, rows->destination_bits, k) >= 0)
            return fault_division(plan, k, error);
    }
    return ERROR_NONE;
}

enum error_code check_run(struct plan *plan, struct error *error)
{
    if (check_segment_ids(plan, error) != ERROR_NONE || check_indices(plan, error) != ERROR_NONE ||
        check_division(plan, error) != ERROR_NONE)
        return error->code;
    return ERROR_NONE;
}
