/* bench-kernels: the kernels beside a baseline, memcpy, and libraries, on the cells of
 * kernels_cell.c.
 *
 *     kernels [ROUNDS] [TEXT]      only the cells whose label holds TEXT
 *
 * Times are medians, in milliseconds, of rounds in which all take turns; the baseline is the best
 * of its forms (1 thread or all, with prefetch or without). Each starts from indices that were just
 * written, as those of a request are. "copy" is memcpy of the same number of bytes as the operation
 * must move. PEERS names a Python that has PyTorch and JAX: then they are columns, too. Only ratios
 * mean something. */
#include "kernels/backend.h"
#include "kernels/cpu/level.h"
#include "tests/bench/kernels_baseline.h"
#include "tests/bench/kernels_cell.h"
#include "tests/bench/kernels_peer.h"

#include <assert.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS_MAX = 101 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* -------------------------------------------------------------------------------------- ours */

static struct tensor tensor_of(const struct cell_data *w, enum dtype dtype, int64_t rows,
                               void *data)
{
    struct tensor t = {dtype, 2, {rows, w->cell->width}, data};
    return t;
}

static struct tensor table_of(struct cell_data *w)
{
    struct tensor t = {.dtype = w->cell->dtype, .rank = w->depth + 1, .data = w->table};
    for (int i = 0; i < w->depth; i++)
        t.shape[i] = w->cell->dims[i];
    t.shape[w->depth] = w->cell->width;
    return t;
}

static void ours_plan(struct plan *plan, struct cell_data *w, const struct machine *machine)
{
    static const char *const names[] = {
        "tensor_scatter_add",   "scatter_nd",           "gather_nd",
        "sparse_segment_mean",  "segment_sum",          "unsorted_segment_sum",
        "unsorted_segment_max", "unsorted_segment_mean"};
    const struct cell *c = w->cell;
    struct tensor table = table_of(w), values = tensor_of(w, c->dtype, c->n, w->values);
    struct tensor indices = {DTYPE_INT32, 2, {c->n, w->depth}, w->own};
    struct tensor flat = {DTYPE_INT32, 1, {c->n}, w->own}, ids = {DTYPE_INT32, 1, {c->n}, w->ids};
    for (int i = 0; i < table.rank; i++)
        w->out_shape[i] = (int32_t)table.shape[i];
    struct tensor shape = {DTYPE_INT32, 1, {table.rank}, w->out_shape};
    struct tensor segments = {.dtype = DTYPE_INT32, .data = w->out_shape};
    struct tensor inputs[][OP_INPUTS_MAX] = {[ADD] = {table, indices, values},
                                             [SCATTER_ND] = {indices, values, shape},
                                             [GATHER] = {table, indices},
                                             [MEAN] = {table, flat, ids},
                                             [SEGMENT_SUM] = {values, flat},
                                             [UNSORTED_SUM] = {values, flat, segments},
                                             [UNSORTED_MAX] = {values, flat, segments},
                                             [UNSORTED_MEAN] = {values, flat, segments}};
    struct plan_options options = {
        .output_limit = SIZE_MAX, .threads = omp_get_num_procs(), .machine = machine};
    struct op_name name;
    struct error error;
    bool known = op_find(names[c->kind], strlen(names[c->kind]), &name);
    assert(known);
    enum error_code code = plan_make(plan, &name, inputs[c->kind], &options, &error);
    assert(code == ERROR_NONE);
    plan->output.data = c->in_place ? w->table : w->out;
    plan->scratch = aligned_alloc(64, plan->scratch_bytes + 64);
}

static double ours_run(struct lane *lane, struct plan *plan, struct cell_data *w)
{
    struct error error;
    memcpy(w->own, w->indices, w->index_bytes);
    double start = now_ms();
    enum error_code code = backend_cpu.run(lane, plan, &error);
    double ms = now_ms() - start;
    assert(code == ERROR_NONE);
    return ms;
}

static bool baseline_add(const struct cell_data *w, const struct baseline *b)
{
    const void *start = w->cell->kind == ADD ? w->table : NULL;
    switch (w->cell->dtype) {
    case DTYPE_FP16:
        return baseline_add_f16(b, start, w->own, w->values, w->out);
    case DTYPE_BF16:
        return baseline_add_bf16(b, start, w->own, w->values, w->out);
    case DTYPE_INT64:
        return baseline_add_i64(b, start, w->own, w->values, w->out);
    case DTYPE_FP64:
        return baseline_add_f64(b, start, w->own, w->values, w->out);
    default:
        return baseline_add_f32(b, start, w->own, w->values, w->out);
    }
}

static bool baseline_compute(const struct cell_data *w, const struct baseline *b)
{
    switch (w->cell->kind) {
    case MEAN:
        return baseline_mean_f32(b, w->table, w->own, w->ids, w->cell->segments, w->out);
    case GATHER:
        return baseline_gather_f32(b, w->table, w->own, w->out);
    case SEGMENT_SUM:
        return baseline_segment_sum_f32(b, w->own, w->values, w->out);
    case UNSORTED_MAX:
        return baseline_unsorted_max_f32(b, w->own, w->values, w->out);
    case UNSORTED_MEAN:
        return baseline_unsorted_mean_f32(b, w->own, w->values, w->ids, w->out);
    case ADD:
    case SCATTER_ND:
    case UNSORTED_SUM:
        return baseline_add(w, b);
    }
    return false;
}

static double baseline_run(const struct cell_data *w, const struct baseline *b)
{
    memcpy(w->own, w->indices, w->index_bytes);
    double start = now_ms();
    bool done = baseline_compute(w, b);
    double ms = now_ms() - start;
    assert(done);
    return ms;
}

/* The best of the baseline's forms for this cell. */
static struct baseline baseline_best(const struct cell_data *w)
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
    float *from = bench_memory(bytes), *to = bench_memory(bytes);
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

/* The columns of a cell's row. */
struct times {
    double ours, baseline, peers[PEERS_MAX];
};

static struct times take_turns(struct cell_data *data, const struct machine *machine,
                               struct peers *peers, int rounds)
{
    static double ours[ROUNDS_MAX], theirs[ROUNDS_MAX], others[PEERS_MAX][ROUNDS_MAX];
    struct error error;
    struct plan plan;
    struct lane *lane = backend_cpu.open(0, 0, &error);
    struct times times;
    ours_plan(&plan, data, machine);
    struct baseline best = baseline_best(data);
    ours_run(lane, &plan, data);
    for (int i = 0; i < rounds; i++) {
        theirs[i] = baseline_run(data, &best);
        ours[i] = ours_run(lane, &plan, data);
        for (int p = 0; p < peers->count; p++)
            others[p][i] = peers_run(peers, p);
    }
    times.ours = median(ours, rounds);
    times.baseline = median(theirs, rounds);
    for (int p = 0; p < peers->count; p++)
        times.peers[p] = median(others[p], rounds);
    backend_cpu.close(lane);
    free(plan.scratch);
    return times;
}

static void bench_cell(const struct cell *cell, const struct machine *machine, struct peers *peers,
                       int rounds)
{
    struct cell_data data;
    double fastest = 0;
    cell_data_init(&data, cell);
    peers_load(peers, &data);
    struct times times = take_turns(&data, machine, peers, rounds);
    printf("%-42s %7.1f %8.3f %9.3f %9.3f %7.2f", cell->label, cell->megabytes,
           copy_ms(cell->megabytes, 5), times.baseline, times.ours, times.ours / times.baseline);
    for (int p = 0; p < peers->count; p++) {
        printf(" %9.3f", times.peers[p]);
        fastest = p == 0 || times.peers[p] < fastest ? times.peers[p] : fastest;
    }
    if (peers->count > 0)
        printf(" %7.2f", times.ours / fastest);
    printf("\n");
    fflush(stdout);
    cell_data_release(&data);
}

static void print_machine(const struct machine *machine)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0) {
            printf("%s", strchr(line, ':') + 2);
            break;
        }
    if (file)
        fclose(file);
    printf("second level %zu KiB, third level %zu KiB; a line %.1f ns, a team of %d %.1f us; level "
           "%s\n\n",
           machine->second_level_bytes / 1024, machine->third_level_bytes / 1024, machine->line_ns,
           omp_get_num_procs(), machine->team_ns / 1e3, level_best()->name);
}

static void print_columns(const struct peers *peers)
{
    printf("%-42s %7s %8s %9s %9s %7s", "cell", "MB", "copy ms", "baseline", "ours", "ratio");
    for (int p = 0; p < peers->count; p++)
        printf(" %9s", peers->names[p]);
    printf("%s\n", peers->count > 0 ? "   ratio" : "");
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 11;
    const char *text = argc > 2 ? argv[2] : "";
    struct machine machine;
    struct peers peers;
    if (rounds < 1 || rounds > ROUNDS_MAX)
        return fprintf(stderr, "usage: %s [ROUNDS (1 to %d)] [TEXT]\n", argv[0], ROUNDS_MAX), 2;
    peers_start(&peers, getenv("PEERS"));
    machine_read(&machine);
    machine_measure(&machine, omp_get_num_procs());
    print_machine(&machine);
    print_columns(&peers);
    for (int i = 0; i < cell_count(); i++)
        if (strstr(cell_at(i)->label, text))
            bench_cell(cell_at(i), &machine, &peers, rounds);
    return 0;
}
