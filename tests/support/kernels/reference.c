#include "tests/support/kernels/reference.h"
#include "tests/support/kernels/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The type that a step is computed in: float32 for the half types. A double holds the exact result
 * closely enough that rounding it to float32 is the same as one rounding. */
static double computed(enum dtype d, double v)
{
    return d == DTYPE_FP64 || d == DTYPE_C128 ? v : (double)(float)v;
}

static struct number combine(const char *how, enum dtype d, struct number a, struct number u)
{
    if (d == DTYPE_BOOL)
        return (struct number){.i = a.i || u.i};
    if (!strcmp(how, "add"))
        return (struct number){.i = a.i + u.i, .f = computed(d, a.f + u.f)};
    if (!strcmp(how, "sub"))
        return (struct number){.i = a.i - u.i, .f = computed(d, a.f - u.f)};
    if (!strcmp(how, "mul")) /* the low bits are all that matter: 128 of them may overflow */
        return (struct number){.i = (__int128)((unsigned __int128)a.i * (unsigned __int128)u.i),
                               .f = computed(d, a.f * u.f)};
    return (struct number){.i = number_is_float(d) ? 0 : a.i / u.i, .f = computed(d, a.f / u.f)};
}

/* Whether the update takes the element's place as it is. */
static bool replaces(const char *how, struct number a, struct number u)
{
    return (!strcmp(how, "min") && (u.i < a.i || u.f < a.f)) ||
           (!strcmp(how, "max") && (u.i > a.i || u.f > a.f));
}

/* ----------------------------------------------------------------------------------- the rows */

/* The row that tuple k of `indices` addresses in dims, or -1. */
static int64_t address(const struct tensor *indices, int64_t k, int depth, const int64_t *dims)
{
    int64_t row = 0;
    for (int i = 0; i < depth; i++) {
        int64_t v = (int64_t)number_load(indices, k * depth + i).i;
        if (v < 0 || v >= dims[i])
            return -1;
        row = row * dims[i] + v;
    }
    return row;
}

static int64_t product(const int64_t *shape, int from, int to)
{
    int64_t p = 1;
    for (int i = from; i < to; i++)
        p *= shape[i];
    return p;
}

/* Reports row k as bad, or counts it as ignored. Returns whether to go on. */
static bool bad_row(struct reference *r, int64_t k, bool ignore_bad)
{
    if (ignore_bad) {
        r->ignored++;
        return true;
    }
    r->code = ERROR_INDEX_OUT_OF_BOUNDS;
    r->row = k;
    return false;
}

static void append(struct span *a, const struct span *u)
{
    char *text = malloc(a->size + u->size + 1);
    memcpy(text, a->data, a->size);
    memcpy(text + a->size, u->data, u->size);
    free((char *)a->data);
    *a = (struct span){text, a->size + u->size};
}

static void set_element(struct tensor *out, int64_t at, const struct tensor *values, int64_t from)
{
    size_t bytes = dtype_bytes(out->dtype);
    if (out->dtype == DTYPE_BYTES) {
        ((struct span *)out->data)[at].size = 0;
        append((struct span *)out->data + at, (const struct span *)values->data + from);
    } else
        memcpy((char *)out->data + (size_t)at * bytes,
               (const char *)values->data + (size_t)from * bytes, bytes);
}

static void output_new(struct tensor *out)
{
    int64_t count = product(out->shape, 0, out->rank);
    out->data = calloc((size_t)count + 1, dtype_bytes(out->dtype));
    for (int64_t i = 0; out->dtype == DTYPE_BYTES && i < count; i++)
        ((struct span *)out->data)[i].data = calloc(1, 1);
}

/* ----------------------------------------------------------------------------- the operations */

static void update_number(struct tensor *out, const char *how, int64_t at,
                          const struct tensor *updates, int64_t from)
{
    struct number a = number_load(out, at), u = number_load(updates, from);
    bool picks_one = !strcmp(how, "min") || !strcmp(how, "max");
    if (replaces(how, a, u))
        set_element(out, at, updates, from);
    else if (!picks_one)
        number_store(out, at, combine(how, out->dtype, a, u));
}

static void update_element(struct tensor *out, const char *how, int64_t at,
                           const struct tensor *updates, int64_t from)
{
    if (out->dtype == DTYPE_BYTES && !strcmp(how, "add"))
        append((struct span *)out->data + at, (const struct span *)updates->data + from);
    else if (!strcmp(how, "update"))
        set_element(out, at, updates, from);
    else if (out->dtype == DTYPE_C64 || out->dtype == DTYPE_C128)
        for (int part = 0; part < 2; part++)
            update_number(out, how, 2 * at + part, updates, 2 * from + part);
    else
        update_number(out, how, at, updates, from);
}

static bool divides_by_zero(const char *how, const struct tensor *updates, int64_t from,
                            int64_t width)
{
    if (strcmp(how, "div") != 0 || number_is_float(updates->dtype))
        return false;
    for (int64_t j = 0; j < width; j++)
        if (number_load(updates, from + j).i == 0)
            return true;
    return false;
}

static void scatter(struct reference *r, const char *how, const struct tensor *indices,
                    const struct tensor *updates, bool ignore_bad)
{
    int depth = (int)indices->shape[indices->rank - 1];
    int64_t rows = product(indices->shape, 0, indices->rank - 1);
    int64_t width = product(r->output.shape, depth, r->output.rank);
    for (int64_t k = 0; k < rows; k++)
        if (address(indices, k, depth, r->output.shape) < 0 && !bad_row(r, k, ignore_bad))
            return;
    for (int64_t k = 0; k < rows; k++) {
        int64_t row = address(indices, k, depth, r->output.shape);
        if (row < 0)
            continue;
        if (divides_by_zero(how, updates, k * width, width)) {
            r->code = ERROR_DIVISION_BY_ZERO;
            r->row = k;
            return;
        }
        for (int64_t j = 0; j < width; j++)
            update_element(&r->output, how, row * width + j, updates, k * width + j);
    }
}

/* Each tuple of indices, all of their dimensions but the last, names a row of the first ones of
 * params; or, without tuples, each index a row. */
static void gather(struct reference *r, const struct tensor *params, const struct tensor *indices,
                   bool tuples, bool ignore_bad)
{
    int depth = tuples ? (int)indices->shape[indices->rank - 1] : 1;
    int64_t rows = product(indices->shape, 0, indices->rank - tuples);
    int64_t width = product(params->shape, depth, params->rank);
    for (int64_t k = 0; k < rows; k++) {
        int64_t row = address(indices, k, depth, params->shape);
        if (row < 0 && !bad_row(r, k, ignore_bad))
            return;
        for (int64_t j = 0; row >= 0 && j < width; j++)
            set_element(&r->output, k * width + j, params, row * width + j);
    }
}

/* A segment's element while its members come by. */
struct fold {
    const char *how;
    struct number value;
    int64_t n;    /* members so far */
    int64_t from; /* min, max: the member that stays */
};

static void fold_member(struct fold *f, const struct tensor *data, int64_t from)
{
    struct number u = number_load(data, from);
    bool picks_one = !strcmp(f->how, "min") || !strcmp(f->how, "max");
    bool starts_from_first = picks_one || !strcmp(f->how, "sub") || !strcmp(f->how, "div");
    if ((starts_from_first && f->n == 0) || replaces(f->how, f->value, u)) {
        f->value = u;
        f->from = from;
    } else if (!picks_one)
        f->value = combine(f->how, data->dtype, f->value, u);
    f->n++;
}

static struct number rounded(enum dtype d, struct number v)
{
    double memory;
    struct tensor one = {.dtype = d, .data = &memory};
    number_store(&one, 0, v);
    return number_load(&one, 0);
}

/* How an operation folds: what follows the last underscore but for the means, which are sums. */
static const char *fold_of(const char *op)
{
    const char *last = strrchr(op, '_') + 1;
    bool sums = !strcmp(last, "sum") || !strcmp(last, "mean") || !strcmp(last, "n");
    return sums ? "add" : !strcmp(last, "prod") ? "mul" : last;
}

/* Whether the fold is that of a scatter, which rounds each step to the type: over unsorted ids, but
 * for the means. */
static bool rounds_each_step(const char *op)
{
    const char *last = strrchr(op, '_') + 1;
    return !strncmp(op, "unsorted", 8) && strcmp(last, "mean") != 0 && strcmp(last, "n") != 0;
}

/* What the sum of n rows becomes. */
static double finish(const char *op, enum dtype d, double sum, int64_t n)
{
    const char *last = strrchr(op, '_') + 1;
    if (!strcmp(last, "mean"))
        return computed(d, sum / computed(d, (double)n));
    if (!strcmp(last, "n"))
        return computed(d, sum / computed(d, sqrt((double)n)));
    return sum;
}

/* Rows of data: id k is about row k, or about the one that index k names. */
struct members {
    const struct tensor *data, *ids;
    const struct tensor *indices; /* NULL: there are none */
    int64_t count, width;         /* complex: floats */
    int64_t *rows;                /* those of the segment at hand */
    int64_t of_segment;
};

static int64_t member_row(const struct members *m, int64_t k)
{
    return m->indices ? address(m->indices, k, 1, m->data->shape) : k;
}

static void find_members(struct members *m, int64_t id)
{
    m->of_segment = 0;
    for (int64_t k = 0; k < m->count; k++)
        if ((int64_t)number_load(m->ids, k).i == id && member_row(m, k) >= 0)
            m->rows[m->of_segment++] = member_row(m, k);
}

static struct fold fold_segment(const char *op, const struct members *m, int64_t j)
{
    const char *how = fold_of(op);
    bool one = !strcmp(how, "mul");
    struct fold f = {how, {.i = one, .f = one}, 0, 0};
    for (int64_t i = 0; i < m->of_segment; i++) {
        fold_member(&f, m->data, m->rows[i] * m->width + j);
        if (rounds_each_step(op))
            f.value = rounded(m->data->dtype, f.value);
    }
    return f;
}

/* What a segment without members holds: 1 for products; the ends of the type for the least and the
 * greatest over unsorted ids; else 0, as it was. */
static void set_empty(struct tensor *out, const char *op, int64_t at)
{
    static const struct {
        enum dtype dtype;
        struct number highest, lowest;
    } ends[] = {
        {DTYPE_INT8, {.i = INT8_MAX}, {.i = INT8_MIN}},
        {DTYPE_INT16, {.i = INT16_MAX}, {.i = INT16_MIN}},
        {DTYPE_INT32, {.i = INT32_MAX}, {.i = INT32_MIN}},
        {DTYPE_INT64, {.i = INT64_MAX}, {.i = INT64_MIN}},
        {DTYPE_UINT8, {.i = UINT8_MAX}, {.i = 0}},
        {DTYPE_UINT16, {.i = UINT16_MAX}, {.i = 0}},
        {DTYPE_UINT32, {.i = UINT32_MAX}, {.i = 0}},
        {DTYPE_UINT64, {.i = UINT64_MAX}, {.i = 0}},
        {DTYPE_FP16, {.f = 65504}, {.f = -65504}},
        {DTYPE_BF16, {.f = 0xFFp120}, {.f = -0xFFp120}},
        {DTYPE_FP32, {.f = 0xFFFFFFp104}, {.f = -0xFFFFFFp104}},
        {DTYPE_FP64, {.f = 0x1FFFFFFFFFFFFFp971}, {.f = -0x1FFFFFFFFFFFFFp971}},
    };
    bool unsorted_product = !strncmp(op, "unsorted", 8) && !strcmp(fold_of(op), "mul");
    if (!strcmp(op, "segment_prod") || unsorted_product)
        number_store(out, at, (struct number){.i = 1, .f = 1});
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i].dtype == out->dtype && !strcmp(op, "unsorted_segment_min"))
            number_store(out, at, ends[i].highest);
        else if (ends[i].dtype == out->dtype && !strcmp(op, "unsorted_segment_max"))
            number_store(out, at, ends[i].lowest);
}

static void segment_row(struct reference *r, const char *op, const struct members *m, int64_t id)
{
    for (int64_t j = 0; j < m->width; j++) {
        int64_t at = id * m->width + j;
        struct fold f = fold_segment(op, m, j);
        if (f.n == 0) {
            set_empty(&r->output, op, at);
            continue;
        }
        f.value.f = finish(op, m->data->dtype, f.value.f, f.n);
        if (!strcmp(f.how, "min") || !strcmp(f.how, "max"))
            set_element(&r->output, at, m->data, f.from);
        else
            number_store(&r->output, at, f.value);
    }
}

static void segments(struct reference *r, const char *op, const struct tensor *inputs,
                     bool ignore_bad)
{
    bool sparse = !strncmp(op, "sparse", 6);
    const struct tensor *data = &inputs[0], *ids = &inputs[sparse ? 2 : 1];
    bool complex = data->dtype == DTYPE_C64 || data->dtype == DTYPE_C128;
    struct members m = {.data = data,
                        .ids = ids,
                        .indices = sparse ? &inputs[1] : NULL,
                        .count = product(ids->shape, 0, ids->rank),
                        .width = product(data->shape, sparse ? 1 : ids->rank, data->rank)};
    m.width *= complex ? 2 : 1;
    for (int64_t k = 0; k < m.count; k++)
        if (member_row(&m, k) < 0 && !bad_row(r, k, ignore_bad))
            return;
    m.rows = malloc((size_t)m.count * sizeof *m.rows + 1);
    for (int64_t id = 0; id < r->output.shape[0]; id++) {
        find_members(&m, id);
        segment_row(r, op, &m, id);
    }
    free(m.rows);
}

static bool is_segment(const char *op)
{
    return strstr(op, "segment_") != NULL;
}

/* A segment for each number below num_segments, or up to the last id. */
static int64_t segments_of(const struct tensor *ids, const struct tensor *num_segments)
{
    int64_t count = product(ids->shape, 0, ids->rank);
    if (num_segments->dtype != DTYPE_NONE)
        return (int64_t)number_load(num_segments, 0).i;
    return count > 0 ? (int64_t)number_load(ids, count - 1).i + 1 : 0;
}

static void join_shapes(struct tensor *out, const struct tensor *a, int outer,
                        const struct tensor *b, int inner)
{
    out->rank = 0;
    for (int i = 0; i < outer; i++)
        out->shape[out->rank++] = a->shape[i];
    for (int i = inner; i < b->rank; i++)
        out->shape[out->rank++] = b->shape[i];
}

static void shape_output(struct tensor *out, const char *op, const struct tensor *inputs)
{
    const struct tensor *indices = &inputs[1];
    *out = inputs[0];
    if (!strcmp(op, "scatter_nd")) {
        *out = (struct tensor){.dtype = inputs[1].dtype, .rank = (int)inputs[2].shape[0]};
        for (int i = 0; i < out->rank; i++)
            out->shape[i] = (int64_t)number_load(&inputs[2], i).i;
    } else if (!strcmp(op, "gather_nd")) {
        join_shapes(out, indices, indices->rank - 1, &inputs[0],
                    (int)indices->shape[indices->rank - 1]);
    } else if (!strcmp(op, "gather")) {
        join_shapes(out, indices, indices->rank, &inputs[0], 1);
    } else if (is_segment(op)) {
        bool sparse = !strncmp(op, "sparse", 6);
        const struct tensor *ids = &inputs[sparse ? 2 : 1];
        struct tensor segments = {.rank = 1, .shape = {segments_of(ids, &inputs[sparse ? 3 : 2])}};
        join_shapes(out, &segments, 1, &inputs[0], sparse ? 1 : ids->rank);
    }
}

void reference_run(struct reference *r, const char *op, const struct tensor *inputs,
                   bool ignore_bad)
{
    *r = (struct reference){.code = ERROR_NONE};
    shape_output(&r->output, op, inputs);
    output_new(&r->output);
    if (!strncmp(op, "gather", 6))
        gather(r, &inputs[0], &inputs[1], !strcmp(op, "gather_nd"), ignore_bad);
    else if (!strcmp(op, "scatter_nd"))
        scatter(r, "add", &inputs[0], &inputs[1], ignore_bad);
    else if (is_segment(op))
        segments(r, op, inputs, ignore_bad);
    else {
        int64_t count = product(r->output.shape, 0, r->output.rank);
        for (int64_t i = 0; i < count; i++)
            set_element(&r->output, i, &inputs[0], i);
        scatter(r, op + strlen("tensor_scatter_"), &inputs[1], &inputs[2], ignore_bad);
    }
}

void reference_release(struct reference *r)
{
    int64_t count = product(r->output.shape, 0, r->output.rank);
    for (int64_t i = 0; r->output.dtype == DTYPE_BYTES && i < count; i++)
        free((char *)((struct span *)r->output.data)[i].data);
    free(r->output.data);
}
