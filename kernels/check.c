#include "kernels/check.h"
#include "kernels/fault.h"
#include "kernels/flatten.h"
#include "kernels/team.h"

#include <string.h>

enum { BLOCK = 4096 };

/* Nanoseconds that a component of an index takes: only looked at (D = 1), or flattened. */
static const double LOOK_NS = 0.12, FLATTEN_NS = 0.5;

/* A pass that takes less than so many gatherings of a team is made by one thread: what others look
 * at must then come out of their caches into those of the thread that applies the updates. */
enum { GATHERINGS = 10 };

/* A pass over some of the rows: what it is made from and what it found. */
struct pass {
    const struct plan *plan;
    void *destination; /* D > 1: where the row numbers go */
    int64_t from, to;
    int64_t first_bad; /* or `to`; unused under ignore_bad */
    int64_t bad;       /* rows marked under ignore_bad */
};

/* Whether an index of a block is outside: the sign of v, or of the last row's number minus v. */
ALWAYS_INLINE bool scan_block(const void *indices, int bits, int64_t bound, int64_t from,
                              int64_t to)
{
    const uint32_t *narrow = indices;
    const uint64_t *wide = indices;
    uint32_t last = (uint32_t)(bound - 1 < INT32_MAX ? bound - 1 : INT32_MAX), outside = 0;
    uint64_t wide_last = (uint64_t)bound - 1, wide_outside = 0;
    if (bits == 32)
        for (int64_t k = from; k < to; k++)
            outside |= narrow[k] | (last - narrow[k]);
    else
        for (int64_t k = from; k < to; k++)
            wide_outside |= wide[k] | (wide_last - wide[k]);
    return outside >> 31 || wide_outside >> 63;
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static bool scan_block_avx2(const void *indices, int bits,
                                                            int64_t bound, int64_t from, int64_t to)
{
    return scan_block(indices, bits, bound, from, to);
}
#endif

/* This pass is as fast as the caches: it is worth the widest vectors. */
static bool block_outside(const void *indices, int bits, int64_t bound, int64_t from, int64_t to)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return scan_block_avx2(indices, bits, bound, from, to);
#endif
    return scan_block(indices, bits, bound, from, to);
}

static int64_t first_outside(const void *indices, int bits, int64_t bound, int64_t from, int64_t to)
{
    for (int64_t k = from, end; k < to; k = end) {
        end = to - k < BLOCK ? to : k + BLOCK;
        if (!block_outside(indices, bits, bound, k, end))
            continue;
        while (index_inside(index_load(indices, bits, k), bound))
            k++;
        return k;
    }
    return to;
}

static void mark_outside(struct pass *pass, int64_t from, int64_t to)
{
    int64_t bound = pass->plan->rows.bound[0];
    for (int64_t k = from; k < to; k++) {
        int64_t v = index_load(pass->destination, tensor_index_bits(pass->plan->indices), k);
        bool inside = index_inside(v, bound);
        pass->bad += !inside;
        index_store(pass->destination, tensor_index_bits(pass->plan->indices), k, inside ? v : -1);
    }
}

/* D = 1: the indices, or a copy of them, are the row numbers. */
static void check_numbers(struct pass *pass, int64_t from, int64_t to)
{
    int64_t bound = pass->plan->rows.bound[0];
    size_t bytes = tensor_index_bits(pass->plan->indices) / 8;
    if (pass->destination != pass->plan->indices->data)
        memcpy((char *)pass->destination + (size_t)from * bytes,
               (const char *)pass->plan->indices->data + (size_t)from * bytes,
               (size_t)(to - from) * bytes);
    pass->first_bad =
        first_outside(pass->destination, tensor_index_bits(pass->plan->indices), bound, from, to);
    if (pass->plan->options.ignore_bad)
        mark_outside(pass, pass->first_bad, to);
}

ALWAYS_INLINE void flatten_tuples(struct pass *pass, int bits, int row_bits, int depth,
                                  int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++) {
        int64_t row = flatten(pass->plan->indices->data, bits, k, depth, pass->plan->rows.bound);
        if (row < 0) {
            pass->first_bad = k;
            if (!pass->plan->options.ignore_bad)
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
    switch (pass->plan->rows.depth) {
    case 2:
        flatten_tuples(pass, bits, row_bits, 2, from, to);
        break;
    case 3:
        flatten_tuples(pass, bits, row_bits, 3, from, to);
        break;
    default:
        flatten_tuples(pass, bits, row_bits, pass->plan->rows.depth, from, to);
    }
}

static void check_block(struct pass *pass, int64_t from, int64_t to)
{
    int row_bits = pass->plan->rows.destination_bits;
    if (pass->plan->rows.depth == 1)
        check_numbers(pass, from, to);
    else if (row_bits == 32)
        tensor_index_bits(pass->plan->indices) == 32 ? flatten_depth(pass, 32, 32, from, to)
                                                     : flatten_depth(pass, 64, 32, from, to);
    else
        tensor_index_bits(pass->plan->indices) == 32 ? flatten_depth(pass, 32, 64, from, to)
                                                     : flatten_depth(pass, 64, 64, from, to);
}

static void check_pass(void *work, int i)
{
    struct pass *pass = (struct pass *)work + i;
    const struct plan *plan = pass->plan;
    for (int64_t k = pass->from; k < pass->to && !plan_stopped(plan); k += PLAN_STOP_ELEMENTS) {
        int64_t end = pass->to - k < PLAN_STOP_ELEMENTS ? pass->to : k + PLAN_STOP_ELEMENTS;
        check_block(pass, k, end);
        if (!plan->options.ignore_bad && pass->first_bad < end)
            return;
    }
    pass->first_bad = pass->to;
}

/* Where the row numbers go: to the scratch that the plan asked for, else over the tuples in their
 * own type; for D = 1 they are there already. */
static void *place_destination(struct plan *plan)
{
    struct rows *rows = &plan->rows;
    void *place = plan->flat_bytes ? plan->scratch : plan->indices->data;
    bool is_flattened = plan->flat_bytes && rows->depth > 1;
    bool narrow = is_flattened ? rows->limit <= INT32_MAX : tensor_index_bits(plan->indices) == 32;
    rows->destination = place;
    rows->destination_bits = narrow ? 32 : 64;
    return place;
}

static int count_passes(const struct plan *plan)
{
    bool in_place = plan->rows.depth > 1 && !plan->flat_bytes;
    int threads = plan->options.threads < TEAM_MAX ? plan->options.threads : TEAM_MAX;
    int depth = plan->rows.depth;
    double ns = (double)plan->rows.count * (depth == 1 ? LOOK_NS : depth * FLATTEN_NS);
    return in_place || ns < GATHERINGS * plan_machine(plan)->team_ns ? 1 : threads;
}

enum error_code check_indices(struct plan *plan, struct error *error)
{
    int64_t count = plan->rows.count;
    struct pass passes[TEAM_MAX];
    plan->ignored = 0;
    if (!plan->indices)
        return ERROR_NONE;
    void *destination = place_destination(plan);
    int n = count_passes(plan);
    plan->rows.left_out = false;
    if (plan->rows.depth == 0 || count == 0)
        return ERROR_NONE;

    for (int i = 0; i < n; i++)
        passes[i] = (struct pass){plan, destination, count * i / n, count * (i + 1) / n, 0, 0};
    team_run(n, check_pass, passes);
    if (plan_stopped(plan))
        return fault_cancelled(error);
    for (int i = 0; i < n; i++) {
        plan->ignored += passes[i].bad;
        if (!plan->options.ignore_bad && passes[i].first_bad < passes[i].to)
            return fault_index(plan, passes[i].first_bad, error);
    }
    plan->rows.left_out = plan->ignored > 0;
    return ERROR_NONE;
}

enum error_code check_run(struct plan *plan, struct error *error)
{
    if (check_segment_ids(plan, error) != ERROR_NONE || check_indices(plan, error) != ERROR_NONE ||
        check_division(plan, error) != ERROR_NONE)
        return error->code;
    return ERROR_NONE;
}
