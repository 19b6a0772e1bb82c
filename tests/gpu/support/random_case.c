#include "tests/gpu/support/random_case.h"

#include "kernels/arithmetic.h"
#include "kernels/flatten.h"
#include "tests/gpu/support/compare.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static int64_t between(uint64_t *state, int64_t low, int64_t high)
{
    return low + (int64_t)(draw(state) % (uint64_t)(high - low + 1));
}

static bool chance(uint64_t *state, int one_in)
{
    return draw(state) % (uint64_t)one_in == 0;
}

static enum dtype draw_dtype(uint64_t *state, dtype_set set)
{
    set &= ~DTYPE_BIT(BYTES);
    for (;;) {
        enum dtype d = (enum dtype)between(state, 1, DTYPE_COUNT - 1);
        if (set >> d & 1)
            return d;
    }
}

/* Half of them small numbers, in which zeros of both signs and equal values are frequent; half of
 * them any bits: subnormals, infinities, NaNs, the largest and the smallest. */
static void draw_elements(uint64_t *state, struct tensor *t, bool no_zeros)
{
    size_t bytes, unit = dtype_bytes(t->dtype);
    bool counted = tensor_bytes(t, &bytes), wild = chance(state, 2);
    assert(counted);
    unsigned char *data = t->data;
    for (size_t at = 0; at < bytes; at += unit) {
        uint64_t bits[2] = {draw(state), draw(state)};
        if (!wild && t->dtype == DTYPE_FP32)
            bits[0] =
                float_to_bits((float)between(state, -4, 4) * (chance(state, 2) ? 1.5f : -0.25f));
        else if (!wild && (t->dtype == DTYPE_FP16 || t->dtype == DTYPE_BF16))
            bits[0] &= 0xBFFF;
        else if (!wild)
            bits[0] = (uint64_t)between(state, -3, 3);
        if (no_zeros)
            bits[0] |= 1;
        memcpy(data + at, bits, unit);
    }
}

static void allocate(struct random_case *c, int input)
{
    struct tensor *t = &c->run.inputs[input];
    size_t bytes;
    bool counted = tensor_bytes(t, &bytes);
    assert(counted);
    c->memory[input] = t->data = malloc(bytes + 1);
    assert(t->data);
}

static struct tensor *integers(struct random_case *c, int input, uint64_t *state)
{
    struct tensor *t = &c->run.inputs[input];
    t->dtype = chance(state, 2) ? DTYPE_INT32 : DTYPE_INT64;
    allocate(c, input);
    return t;
}

static void put_integer(struct tensor *t, int64_t i, int64_t v)
{
    index_store(t->data, tensor_index_bits(t), i, v);
}

/* What a size means: updates, rows that they go to, elements of a row; inclusive ranges. */
static const struct {
    int64_t updates[2], rows[2], width[2];
} ranges[SIZE_COUNT] = {
    [SIZE_TINY] = {{0, 10}, {1, 6}, {0, 4}},
    [SIZE_SORTED] = {{1025, 2600}, {1, 3000}, {1, 4}},
    [SIZE_SKEWED] = {{150, 900}, {1, 5}, {1, 24}},
    [SIZE_WIDE] = {{1, 20}, {1, 8}, {100, 300}},
    [SIZE_TILES] = {{9000, 12000}, {1, 70000}, {1, 1}},
};

static int64_t in_range(uint64_t *state, const int64_t range[2])
{
    return between(state, range[0], range[1]);
}

/* The table's shape: `depth` dimensions of about `rows` rows together, then the row's. */
static struct tensor draw_table(uint64_t *state, enum dtype dtype, int depth, enum size size)
{
    struct tensor t = {.dtype = dtype};
    int64_t rows = in_range(state, ranges[size].rows), width = in_range(state, ranges[size].width);
    for (int i = 0; i < depth; i++) {
        int64_t bound = i == depth - 1 ? rows : between(state, 1, rows < 4 ? rows : 4);
        t.shape[t.rank++] = bound;
        rows = rows / bound > 0 ? rows / bound : 1;
    }
    if (width != 1 || chance(state, 2))
        t.shape[t.rank++] = width;
    return t;
}

/* Dimensions that number so many rows. */
static void draw_rows(uint64_t *state, struct tensor *t, int64_t rows)
{
    t->rank = 0;
    if (rows % 2 == 0 && chance(state, 2)) {
        t->shape[t->rank++] = 2;
        rows /= 2;
    }
    t->shape[t->rank++] = rows;
}

/* Tuples of `depth` components; depth -1: row numbers. */
static void draw_indices(struct random_case *c, int input, uint64_t *state,
                         const struct tensor *table, int depth, int64_t updates)
{
    static const int64_t beyond[] = {-1, INT32_MIN, INT32_MAX, -4097, 1 << 20};
    struct tensor *t = &c->run.inputs[input];
    draw_rows(state, t, updates);
    if (depth >= 0)
        t->shape[t->rank++] = depth;
    integers(c, input, state);
    bool flawed = chance(state, 4);
    int components = depth < 0 ? 1 : depth;
    for (int64_t i = 0; i < updates * components; i++) {
        int64_t bound = table->shape[i % components];
        put_integer(t, i, between(state, 0, bound - 1));
        if (flawed && chance(state, 6))
            put_integer(t, i, chance(state, 2) ? bound : beyond[between(state, 0, 4)]);
    }
}

static void make_scatter(struct random_case *c, uint64_t *state, const struct op *op,
                         enum dtype dtype, enum size size)
{
    bool starts = op->start == START_COPY;
    int indices = starts ? 1 : 0, updates = starts ? 2 : 1, depth = (int)between(state, 1, 3);
    struct tensor table = draw_table(state, dtype, depth, size);
    draw_indices(c, indices, state, &table, depth, in_range(state, ranges[size].updates));
    struct tensor *u = &c->run.inputs[updates];
    *u = (struct tensor){.dtype = dtype};
    for (int i = 0; i < c->run.inputs[indices].rank - 1; i++)
        u->shape[u->rank++] = c->run.inputs[indices].shape[i];
    for (int i = depth; i < table.rank; i++)
        u->shape[u->rank++] = table.shape[i];
    allocate(c, updates);
    draw_elements(state, u, op->combine == COMBINE_DIV && !chance(state, 4));
    if (starts) {
        c->run.inputs[0] = table;
        allocate(c, 0);
        draw_elements(state, &c->run.inputs[0], false);
        return;
    }
    c->run.inputs[2] = (struct tensor){.rank = 1, .shape = {table.rank}};
    struct tensor *shape = integers(c, 2, state);
    for (int i = 0; i < table.rank; i++)
        put_integer(shape, i, table.shape[i]);
}

static void make_gather(struct random_case *c, uint64_t *state, enum dtype dtype, enum size size)
{
    bool tuples = strcmp(c->run.op, "gather_nd") == 0;
    int depth = tuples ? (int)between(state, size == SIZE_TINY ? 0 : 1, 3) : 1;
    c->run.inputs[0] = draw_table(state, dtype, depth, size);
    allocate(c, 0);
    draw_elements(state, &c->run.inputs[0], false);
    draw_indices(c, 1, state, &c->run.inputs[0], tuples ? depth : -1,
                 in_range(state, ranges[size].updates));
}

/* Ids that do not decrease, but where they are flawed; returns what is above the last one. */
static int64_t draw_sorted_ids(struct random_case *c, int input, uint64_t *state, int64_t count,
                               enum size size)
{
    c->run.inputs[input] = (struct tensor){.rank = 1, .shape = {count}};
    struct tensor *ids = integers(c, input, state);
    int64_t id = between(state, 0, 2);
    int step = (int)between(state, 2, size == SIZE_SKEWED ? 400 : 6);
    bool flawed = chance(state, 8);
    for (int64_t k = 0; k < count; k++) {
        id += chance(state, step) ? between(state, 1, 3) : 0;
        put_integer(ids, k, flawed && chance(state, 7) ? between(state, -2, id) : id);
    }
    return id + 1;
}

static void draw_num_segments(struct random_case *c, int input, uint64_t *state, int64_t segments)
{
    c->run.inputs[input] = (struct tensor){.rank = chance(state, 2), .shape = {1}};
    put_integer(integers(c, input, state), 0, segments);
}

/* Ids in any order, some of them negative; a few times one has no segment. */
static int64_t draw_unsorted_ids(struct random_case *c, int input, uint64_t *state, int64_t count,
                                 enum size size)
{
    int64_t segments = in_range(state, ranges[size].rows);
    c->run.inputs[input] = (struct tensor){0};
    draw_rows(state, &c->run.inputs[input], count);
    struct tensor *ids = integers(c, input, state);
    bool flawed = chance(state, 8), drops = chance(state, 2);
    for (int64_t k = 0; k < count; k++)
        put_integer(ids, k, between(state, drops ? -2 : 0, segments - 1));
    if (flawed && count > 0)
        put_integer(ids, between(state, 0, count - 1), segments);
    return segments;
}

/* Each row of data has an id. */
static void make_rows(struct random_case *c, uint64_t *state, enum dtype dtype, enum size size)
{
    bool sorted = op_input(c->run.row, "num_segments", 12) < 0;
    int64_t count = in_range(state, ranges[size].updates);
    if (sorted)
        (void)draw_sorted_ids(c, 1, state, count, size);
    else
        draw_num_segments(c, 2, state, draw_unsorted_ids(c, 1, state, count, size));
    struct tensor *data = &c->run.inputs[0];
    *data = c->run.inputs[1];
    data->dtype = dtype;
    data->shape[data->rank++] = in_range(state, ranges[size].width);
    allocate(c, 0);
    draw_elements(state, data, false);
}

static void make_pairs(struct random_case *c, uint64_t *state, enum dtype dtype, enum size size)
{
    c->run.inputs[0] = draw_table(state, dtype, 1, size);
    allocate(c, 0);
    draw_elements(state, &c->run.inputs[0], false);
    int64_t pairs = in_range(state, ranges[size].updates);
    struct tensor *indices = &c->run.inputs[1];
    draw_indices(c, 1, state, &c->run.inputs[0], -1, pairs);
    indices->rank = 1;
    indices->shape[0] = pairs;
    int64_t segments = draw_sorted_ids(c, 2, state, pairs, size);
    if (chance(state, 2))
        draw_num_segments(c, 3, state, segments + (chance(state, 8) ? -2 : between(state, 0, 3)));
}

void random_case_make(struct random_case *c, const struct op *row, uint64_t seed, enum size size)
{
    uint64_t state = seed * SIZE_COUNT + size;
    const struct op *any = op_at((int)between(&state, 0, op_count() - 1)), *op = row ? row : any;
    enum dtype dtype = draw_dtype(&state, op->dtypes);
    *c = (struct random_case){.run = {.op = op->name,
                                      .row = op,
                                      .ignore_bad = chance(&state, 2),
                                      .in_place = chance(&state, 2)}};
    if (op_input(op, "updates", 7) >= 0)
        make_scatter(c, &state, op, dtype, size);
    else if (op_input(op, "segment_ids", 11) < 0)
        make_gather(c, &state, dtype, size);
    else if (op_input(op, "indices", 7) >= 0)
        make_pairs(c, &state, dtype, size);
    else
        make_rows(c, &state, dtype, size);
}

void random_case_release(struct random_case *c)
{
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        free(c->memory[i]);
}

void random_case_check(const struct backend *backend, struct lane *lane, const struct op *row,
                       uint64_t seed, enum size size)
{
    struct random_case c;
    char name[64];
    snprintf(name, sizeof name, "case %llu of size %d", (unsigned long long)seed, size);
    random_case_make(&c, row, seed, size);
    compare_with_cpu(&c.run, backend, lane, name);
    random_case_release(&c);
}
