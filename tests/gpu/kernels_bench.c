/* The device's kernels over the cells of the performance table, beside a copy on the device of as
 * many bytes as the operation must move, and whole jobs with their transfers beside the CPU.
 *
 *   kernels_bench [SCALE]      SCALE divides updates and rows: 1000 to try it on ptxemu, whose
 * times mean nothing
 *
 * Every result is compared with the CPU's, bit for bit, before anything is timed. */
#include "kernels/cuda/run.h"
#include "tests/gpu/support/cell.h"
#include "tests/support/golden/golden.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPEATS = 7 };

static const struct cell cells[] = {
    {"add f32 1e5->1e3 D1", "tensor_scatter_add", DTYPE_FP32, 100000, 1000, 1, 0, 1, 0},
    {"add f32 1e6->1e3 D1", "tensor_scatter_add", DTYPE_FP32, 1000000, 1000, 1, 0, 1, 0},
    {"add f32 1e6->1e7 D1", "tensor_scatter_add", DTYPE_FP32, 1000000, 10000000, 1, 0, 1, 0},
    {"add f32 1e6->1e5 D64", "tensor_scatter_add", DTYPE_FP32, 1000000, 100000, 64, 0, 1, 0},
    {"add f32 481385->556416 D80", "tensor_scatter_add", DTYPE_FP32, 481385, 556416, 80, 0, 1, 0},
    {"add f32 1e4->1e6 D64", "tensor_scatter_add", DTYPE_FP32, 10000, 1000000, 64, 0, 1, 0},
    {"add f32 40960->399 D128 one row", "tensor_scatter_add", DTYPE_FP32, 40960, 399, 128, 0, 1, 1},
    {"add f16 1e6->1e5 D16", "tensor_scatter_add", DTYPE_FP16, 1000000, 100000, 16, 0, 1, 0},
    {"add bf16 1e6->1e5 D16", "tensor_scatter_add", DTYPE_BF16, 1000000, 100000, 16, 0, 1, 0},
    {"add i64 1e6->1e6 D1", "tensor_scatter_add", DTYPE_INT64, 1000000, 1000000, 1, 0, 1, 0},
    {"add f64 1e6->1e6 D4", "tensor_scatter_add", DTYPE_FP64, 1000000, 1000000, 4, 0, 1, 0},
    {"add f32 1e6->[1000,1000,8] depth 2", "tensor_scatter_add", DTYPE_FP32, 1000000, 1000000, 8, 0,
     2, 0},
    {"update f32 1e6->1e6 D16", "tensor_scatter_update", DTYPE_FP32, 1000000, 1000000, 16, 0, 1, 0},
    {"scatter_nd f32 1e6->1e6 D16", "scatter_nd", DTYPE_FP32, 1000000, 1000000, 16, 0, 1, 0},
    {"segment_mean f32 1e6 of 1e5 D64, 1e5 seg", "sparse_segment_mean", DTYPE_FP32, 1000000, 100000,
     64, 100000, 1, 0},
    {"segment_mean f32 1e6 of 1e6 D16, 2 seg", "sparse_segment_mean", DTYPE_FP32, 1000000, 1000000,
     16, 2, 1, 0},
    {"gather_nd f32 1e6 of 1e6 D16", "gather_nd", DTYPE_FP32, 1000000, 1000000, 16, 0, 1, 0},
};
enum { CELLS = sizeof cells / sizeof *cells };

struct times {
    double check_ms, apply_ms, copy_ms, job_ms, cpu_ms;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

static void run(const struct backend *backend, struct lane *lane, struct plan *p)
{
    struct error error;
    if (backend->run(lane, p, &error) == ERROR_NONE)
        return;
    fprintf(stderr, "%s: %s\n", backend->name, error.message);
    exit(1);
}

/* Milliseconds on the device of what `launch` puts into the stream, after what `before` does; the
 * best of REPEATS. */
static double timed(const struct run *run, cudaError_t (*before)(const struct run *run),
                    cudaError_t (*launch)(const struct run *run))
{
    cudaEvent_t begin, end;
    float best = 1e30f;
    must(cudaEventCreate(&begin), "cudaEventCreate");
    must(cudaEventCreate(&end), "cudaEventCreate");
    for (int i = 0; i < REPEATS; i++) {
        float ms;
        if (before)
            must(before(run), "launch");
        must(cudaEventRecord(begin, run->lane->stream), "cudaEventRecord");
        must(launch(run), "launch");
        must(cudaEventRecord(end, run->lane->stream), "cudaEventRecord");
        must(cudaEventSynchronize(end), "cudaEventSynchronize");
        must(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
        best = ms < best ? ms : best;
    }
    must(cudaEventDestroy(begin), "cudaEventDestroy");
    must(cudaEventDestroy(end), "cudaEventDestroy");
    return (double)best;
}

static void *copy_from, *copy_to;
static size_t copy_bytes;

static cudaError_t launch_copy(const struct run *run)
{
    return cudaMemcpyAsync(copy_to, copy_from, copy_bytes, cudaMemcpyDeviceToDevice,
                           run->lane->stream);
}

/* A copy that reads and writes as many bytes together. */
static double time_copy(const struct run *run, size_t moved_bytes)
{
    copy_bytes = moved_bytes / 2;
    must(cudaMalloc(&copy_from, copy_bytes), "cudaMalloc");
    must(cudaMalloc(&copy_to, copy_bytes), "cudaMalloc");
    must(cudaMemset(copy_from, 0, copy_bytes), "cudaMemset");
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    double ms = timed(run, NULL, launch_copy);
    must(cudaFree(copy_from), "cudaFree");
    must(cudaFree(copy_to), "cudaFree");
    return ms;
}

static double time_jobs(const struct backend *backend, struct lane *lane, struct work *w,
                        struct plan *p)
{
    double best = 1e30;
    for (int i = 0; i < 3; i++) {
        work_restore(w);
        double start = now_ms();
        run(backend, lane, p);
        double ms = now_ms() - start;
        best = ms < best ? ms : best;
    }
    return best;
}

static void time_cell(struct work *w, struct lane *lane, struct times *t)
{
    struct run r;
    struct error error;
    if (run_prepare(&r, lane, &w->plan, &error) != ERROR_NONE) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    struct lane *cpu = backend_cpu.open(0, 0, &error);
    t->job_ms = time_jobs(backend_cuda(), lane, w, &w->plan);
    t->cpu_ms = time_jobs(&backend_cpu, cpu, w, &w->cpu);
    work_restore(w);
    backend_cpu.close(cpu);
    t->check_ms = timed(&r, NULL, run_launch_check);
    /* Applying leaves the rows sorted, so the check comes before each: it starts from the client's
     * order. */
    t->apply_ms = timed(&r, run_launch_check, run_launch_apply);
    t->copy_ms = time_copy(&r, w->moved_bytes);
}

static bool is_right(struct work *w, struct lane *lane)
{
    struct error error;
    struct lane *cpu = backend_cpu.open(0, 0, &error);
    run(backend_cuda(), lane, &w->plan);
    run(&backend_cpu, cpu, &w->cpu);
    backend_cpu.close(cpu);
    return golden_equal(&w->plan.output, &w->cpu.output);
}

static bool bench(const struct cell *cell, int64_t scale, struct lane *lane)
{
    struct work w;
    struct times t;
    work_init(&w, cell, scale);
    bool right = is_right(&w, lane);
    if (right) {
        time_cell(&w, lane, &t);
        double mb = (double)w.moved_bytes / 1e6, device_ms = t.check_ms + t.apply_ms;
        printf("| %-41s | %7.1f | %8.3f | %8.3f | %8.3f | %7.0f | %7.0f | %9.2f | %8.2f |\n",
               cell->name, mb, t.copy_ms, t.check_ms, t.apply_ms, mb / t.copy_ms, mb / device_ms,
               t.job_ms, t.cpu_ms);
    } else {
        printf("| %-41s | WRONG: another answer than the CPU's |\n", cell->name);
    }
    work_release(&w);
    return right;
}

int main(int argc, char **argv)
{
    int64_t scale = argc > 1 ? atoll(argv[1]) : 1;
    struct cudaDeviceProp device;
    struct error error;
    bool right = true;
    struct lane *lane = backend_cuda()->open(0, SIZE_MAX, &error);
    if (!lane) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    must(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
    printf(
        "device: %s, sm_%d%d; CPU with %d threads; out of place; best of several\n"
        "check: zeroing the bits, validating, flattening. apply: all that follows, the sort too.\n"
        "GB/s: the bytes that must move by the time of the copy, and of check and apply.\n"
        "job: the whole run with its transfers from and to memory that is not pinned.\n\n",
        device.name, device.major, device.minor, omp_get_max_threads());
    printf("| %-41s | %7s | %8s | %8s | %8s | %7s | %7s | %9s | %8s |\n", "cell", "MB", "copy ms",
           "check ms", "apply ms", "copy", "GB/s", "job ms", "CPU ms");
    printf("|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < CELLS; i++)
        right &= bench(&cells[i], scale, lane);
    backend_cuda()->close(lane);
    return right ? 0 : 1;
}
