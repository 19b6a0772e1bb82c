/* bench-kernels: the kernels beside a baseline and beside memcpy, on the cells of the performance
 * table.
 *
 *     kernels [ROUNDS] [TEXT]      only the cells whose label holds TEXT
 *
 * Times are medians, in milliseconds, of rounds in which ours and the baseline take turns; the
 * baseline is the best of its forms (1 thread or all, with prefetch or without). "copy" is memcpy
 * of the same number of bytes as the operation must move. Only ratios mean something. */
#include "kernels/backend.h"
#include "tests/bench/kernels_baseline.h"

#include <assert.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum kind { ADD, SCATTER_ND, GATHER, MEAN };
enum pattern { UNIFORM, ONE_ROW };

struct cell {
    const char *label;
    enum kind kind;
    enum dtype dtype;
    int64_t n, dims[3]; /* dims: addressed dimensions of the table, 0 after the last */
    int64_t width, segments;
    enum pattern pattern;
    bool in_place;
    double megabytes; /* moved, each byte read or written once */
    double reach;     /* ours / baseline, the fastest library's */
};

static const struct cell cells[] = {
    {"add f32 1e5->1e3 D1", ADD, DTYPE_FP32, 100000, {1000}, 1, 0, UNIFORM, false, 0.8, 1.00},
    {"add f32 1e6->1e3 D1", ADD, DTYPE_FP32, 1000000, {1000}, 1, 0, UNIFORM, false, 8.0, 1.00},
    {"add f32 1e6->1e7 D1", ADD, DTYPE_FP32, 1000000, {10000000}, 1, 0, UNIFORM, false, 88.0, 1.00},
    {"add f32 1e6->1e5 D64",
     ADD,
     DTYPE_FP32,
     1000000,
     {100000},
     64,
     0,
     UNIFORM,
     false,
     311.2,
     1.00},
    {"add f32 481385->556416 D80",
     ADD,
     DTYPE_FP32,
     481385,
     {556416},
     80,
     0,
     UNIFORM,
     false,
     512.1,
     1.00},
    {"add f32 1e4->1e6 D64", ADD, DTYPE_FP32, 10000, {1000000}, 64, 0, UNIFORM, false, 514.6, 0.92},
    {"add f32 1e4->1e6 D64 in place",
     ADD,
     DTYPE_FP32,
     10000,
     {1000000},
     64,
     0,
     UNIFORM,
     true,
     514.6,
     0.10},
    {"add f32 40960->399 D128 one row",
     ADD,
     DTYPE_FP32,
     40960,
     {399},
     128,
     0,
     ONE_ROW,
     false,
     21.5,
     1.00},
    {"add f16 1e6->1e5 D16", ADD, DTYPE_FP16, 1000000, {100000}, 16, 0, UNIFORM, false, 42.4, 1.00},
    {"add bf16 1e6->1e5 D16",
     ADD,
     DTYPE_BF16,
     1000000,
     {100000},
     16,
     0,
     UNIFORM,
     false,
     42.4,
     1.00},
    {"add i64 1e6->1e6 D1", ADD, DTYPE_INT64, 1000000, {1000000}, 1, 0, UNIFORM, false, 28.0, 1.00},
    {"add f64 1e6->1e6 D4", ADD, DTYPE_FP64, 1000000, {1000000}, 4, 0, UNIFORM, false, 100.0, 1.00},
    {"add f32 1e6->[1000,1000,8] depth 2",
     ADD,
     DTYPE_FP32,
     1000000,
     {1000, 1000},
     8,
     0,
     UNIFORM,
     false,
     104.0,
     0.93},
    {"scatter_nd f32 1e6->1e6 D16",
     SCATTER_ND,
     DTYPE_FP32,
     1000000,
     {1000000},
     16,
     0,
     UNIFORM,
     false,
     132.0,
     1.00},
    {"segment_mean f32 1e6 of 1e5 D64, 1e5 seg",
     MEAN,
     DTYPE_FP32,
     1000000,
     {100000},
     64,
     100000,
     UNIFORM,
     false,
     59.2,
     0.57},
    {"segment_mean f32 1e6 of 1e6 D16, 2 seg",
     MEAN,
     DTYPE_FP32,
     1000000,
     {1000000},
     16,
     2,
     UNIFORM,
     false,
     48.4,
     0.65},
    {"gather_nd f32 1e6 of 1e6 D16",
     GATHER,
     DTYPE_FP32,
     1000000,
     {1000000},
     16,
     0,
     UNIFORM,
     false,
     108.4,
     1.00},
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Memory as the server has it: touched before, whole 2 MiB pages. free() it. */
static void *memory_new(size_t bytes)
{
    size_t page = 2 << 20, whole = (bytes + page) / page * page;
    void *p = aligned_alloc(page, whole);
    assert(p);
    madvise(p, whole, MADV_HUGEPAGE);
    memset(p, 0, whole);
    return p;
}

/* ---------------------------------------------------------------------------------- one cell */

struct work {
    const struct cell *cell;
    int depth;
    int64_t rows; /* of the table */
    size_t table_bytes, values_bytes, out_bytes;
    void *table, *values, *out;
    int32_t *indices, *own, *ids; /* own: ours to overwrite */
    int32_t out_shape[4];
    struct plan plan;
};

static void fill_values(enum dtype dtype, void *data, size_t bytes, uint64_t *state)
{
    size_t count = bytes / dtype_bytes(dtype);
    for (size_t i = 0; i < count; i++) {
        double v = (double)(next_random(state) >> 11) * 0x1p-53;
        switch (dtype) {
        case DTYPE_FP32:
            ((float *)data)[i] = (float)v;
            break;
        case DTYPE_FP64:
            ((double *)data)[i] = v;
            break;
        case DTYPE_INT64:
            ((int64_t *)data)[i] = (int64_t)(v * 1000);
            break;
        default: /* half types: small numbers, whatever they are */
            ((uint16_t *)data)[i] = (uint16_t)(0x2000 + (unsigned)(v * 0x1000));
        }
    }
}

static void fill_indices(struct work *w, uint64_t *state)
{
    const struct cell *c = w->cell;
    for (int64_t k = 0; k < c->n; k++)
        for (int i = 0; i < w->depth; i++)
            w->indices[k * w->depth + i] =
                c->pattern == ONE_ROW ? 7 : (int32_t)(next_random(state) % (uint64_t)c->dims[i]);
    for (int64_t k = 0; c->kind == MEAN && k < c->n; k++)
        w->ids[k] = (int32_t)(k * c->segments / c->n);
}

static void work_init(struct work *w, const struct cell *c)
{
    uint64_t state = 88172645463325252;
    *w = (struct work){.cell = c, .rows = 1};
    for (; w->depth < 3 && c->dims[w->depth]; w->depth++)
        w->rows *= c->dims[w->depth];
    size_t row = (size_t)c->width * dtype_bytes(c->dtype);
    w->table_bytes = (size_t)w->rows * row;
    w->values_bytes = (size_t)c->n * row;
    w->out_bytes = c->kind == GATHER ? w->values_bytes
                   : c->kind == MEAN ? (size_t)c->segments * row
                                     : w->table_bytes;
    w->table = memory_new(w->table_bytes);
    w->values = memory_new(w->values_bytes);
    w->out = memory_new(w->out_bytes);
    w->indices = memory_new((size_t)(c->n * w->depth) * 4);
    w->own = memory_new((size_t)(c->n * w->depth) * 4);
    w->ids = memory_new((size_t)c->n * 4);
    fill_values(c->dtype, w->table, w->table_bytes, &state);
    fill_values(c->dtype, w->values, w->values_bytes, &state);
    fill_indices(w, &state);
}

static void work_release(struct work *w)
{
    free(w->table);
    free(w->values);
    free(w->out);
    free(w->indices);
    free(w->own);
    free(w->ids);
    free(w->plan.scratch);
}

/* -------------------------------------------------------------------------------------- ours */

static struct tensor tensor_of(const struct work *w, enum dtype dtype, int64_t rows, void *data)
{
    struct tensor t = {dtype, 2, {rows, w->cell->width}, data};
    return t;
}

static struct tensor table_of(struct work *w)
{
    struct tensor t = {.dtype = w->cell->dtype, .rank = w->depth + 1, .data = w->table};
    for (int i = 0; i < w->depth; i++)
        t.shape[i] = w->cell->dims[i];
    t.shape[w->depth] = w->cell->width;
    return t;
}

static void ours_plan(struct work *w)
{
    static const char *const names[] = {"tensor_scatter_add", "scatter_nd", "gather_nd",
                                        "sparse_segment_mean"};
    const struct cell *c = w->cell;
    struct tensor table = table_of(w), values = tensor_of(w, c->dtype, c->n, w->values);
    struct tensor indices = {DTYPE_INT32, 2, {c->n, w->depth}, w->own};
    struct tensor flat = {DTYPE_INT32, 1, {c->n}, w->own}, ids = {DTYPE_INT32, 1, {c->n}, w->ids};
    for (int i = 0; i < table.rank; i++)
        w->out_shape[i] = (int32_t)table.shape[i];
    struct tensor shape = {DTYPE_INT32, 1, {table.rank}, w->out_shape};
    struct tensor inputs[][OP_INPUTS_MAX] = {[ADD] = {table, indices, values},
                                             [SCATTER_ND] = {indices, values, shape},
                                             [GATHER] = {table, indices},
                                             [MEAN] = {table, flat, ids}};
    struct plan_options options = {.output_limit = SIZE_MAX, .threads = omp_get_num_procs()};
    struct op_name name;
    struct error error;
    bool known = op_find(names[c->kind], strlen(names[c->kind]), &name);
    assert(known);
    enum error_code code = plan_make(&w->plan, &name, inputs[c->kind], &options, &error);
    assert(code == ERROR_NONE);
    w->plan.output.data = c->in_place ? w->table : w->out;
    w->plan.scratch = aligned_alloc(64, w->plan.scratch_bytes + 64);
}

static double ours_run(struct work *w)
{
    struct error error;
    struct lane *lane = backend_cpu.open(0, 0, &error);
    memcpy(w->own, w->indices, (size_t)(w->cell->n * w->depth) * 4);
    double start = now_ms();
    enum error_code code = backend_cpu.run(lane, &w->plan, &error);
    double ms = now_ms() - start;
    assert(code == ERROR_NONE);
    return ms;
}

/* ---------------------------------------------------------------------------------- baseline */

static bool baseline_add(const struct work *w, const struct baseline *b)
{
    const void *start = w->cell->kind == ADD ? w->table : NULL;
    switch (w->cell->dtype) {
    case DTYPE_FP16:
        return baseline_add_f16(b, start, w->indices, w->values, w->out);
    case DTYPE_BF16:
        return baseline_add_bf16(b, start, w->indices, w->values, w->out);
    case DTYPE_INT64:
        return baseline_add_i64(b, start, w->indices, w->values, w->out);
    case DTYPE_FP64:
        return baseline_add_f64(b, start, w->indices, w->values, w->out);
    default:
        return baseline_add_f32(b, start, w->indices, w->values, w->out);
    }
}

static double baseline_run(const struct work *w, const struct baseline *b)
{
    double start = now_ms();
    bool done = w->cell->kind == MEAN
                    ? baseline_mean_f32(b, w->table, w->indices, w->ids, w->cell->segments, w->out)
                : w->cell->kind == GATHER ? baseline_gather_f32(b, w->table, w->indices, w->out)
                                          : baseline_add(w, b);
    double ms = now_ms() - start;
    assert(done);
    return ms;
}

/* The best of the baseline's forms for this cell. */
static struct baseline baseline_best(const struct work *w)
{
    const struct cell *c = w->cell;
    struct baseline best = {0};
    double best_ms = 1e9;
    for (int form = 0; form < 4; form++) {
        struct baseline b = {.n = c->n,
                             .depth = w->depth,
                             .rows = w->rows,
                             .d = c->width,
                             .dims = {c->dims[0], c->dims[1], c->dims[2]},
                             .prefetch = form & 1,
                             .threads = form & 2 ? omp_get_num_procs() : 1};
        for (int i = 0; i < 4; i++) {
            double ms = baseline_run(w, &b);
            if (i > 0 && ms < best_ms) {
                best_ms = ms;
                best = b;
            }
        }
    }
    return best;
}

/* ------------------------------------------------------------------------------------ rounds */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, compare_doubles);
    return values[n / 2];
}

static double copy_ms(double megabytes, int rounds)
{
    int64_t n = (int64_t)(megabytes * 1e6 / 2 / sizeof(float));
    size_t bytes = (size_t)n * sizeof(float);
    float *from = memory_new(bytes), *to = memory_new(bytes);
    double best = 1e9;
    for (int i = 0; i < rounds; i++)
        for (int threads = 1; threads <= omp_get_num_procs(); threads++) {
            double start = now_ms();
            baseline_copy(from, to, n, threads);
            double ms = now_ms() - start;
            best = ms < best ? ms : best;
        }
    free(from);
    free(to);
    return best;
}

enum { ROUNDS_MAX = 101 };

static void bench_cell(const struct cell *c, int rounds)
{
    struct work w;
    double ours[ROUNDS_MAX], theirs[ROUNDS_MAX];
    work_init(&w, c);
    ours_plan(&w);
    struct baseline best = baseline_best(&w);
    ours_run(&w);
    for (int i = 0; i < rounds; i++) {
        theirs[i] = baseline_run(&w, &best);
        ours[i] = ours_run(&w);
    }
    double a = median(ours, rounds), b = median(theirs, rounds);
    printf("%-42s %7.1f %8.3f %9.3f %9.3f %7.2f %9.2f\n", c->label, c->megabytes,
           copy_ms(c->megabytes, 5), b, a, a / b, c->reach);
    fflush(stdout);
    work_release(&w);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 11;
    const char *text = argc > 2 ? argv[2] : "";
    if (rounds < 1 || rounds > ROUNDS_MAX)
        return fprintf(stderr, "usage: %s [ROUNDS (1 to %d)] [TEXT]\n", argv[0], ROUNDS_MAX), 2;
    printf("%-42s %7s %8s %9s %9s %7s %9s\n", "cell", "MB", "copy ms", "baseline", "ours", "ratio",
           "to reach");
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        if (strstr(cells[i].label, text))
            bench_cell(&cells[i], rounds);
    return 0;
}
