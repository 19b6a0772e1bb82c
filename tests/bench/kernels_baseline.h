/* kernels_baseline: what a good engineer writes in an afternoon: plain loops in request order, each
 * thread owning rows of the output, with and without prefetching the row of the update 16 places
 * ahead. Only the cells of the benchmark: no other types, no errors worth the name. */
#ifndef TESTS_BENCH_KERNELS_BASELINE_H
#define TESTS_BENCH_KERNELS_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

/* A cell's shape: n updates of d elements go to rows that `depth` indices below dims address. */
struct baseline {
    int64_t n, depth, rows, d, dims[3];
    bool prefetch;
    int threads;
};

/* All return false on a bad index. `base` NULL: start from zeros. */
#define BASELINE_SCATTER(NAME, T)                                                                  \
    bool baseline_add_##NAME(const struct baseline *b, const T *base, const int32_t *indices,      \
                             const T *updates, T *out);
BASELINE_SCATTER(f32, float)
BASELINE_SCATTER(f64, double)
BASELINE_SCATTER(i64, int64_t)
BASELINE_SCATTER(f16, uint16_t)
BASELINE_SCATTER(bf16, uint16_t)

bool baseline_gather_f32(const struct baseline *b, const float *table, const int32_t *indices,
                         float *out);

bool baseline_mean_f32(const struct baseline *b, const float *table, const int32_t *indices,
                       const int32_t *ids, int64_t segments, float *out);

/* The rows of `data` folded by `ids`; sorted ones for the first. `counts` has room for b->rows. */
bool baseline_segment_sum_f32(const struct baseline *b, const int32_t *ids, const float *data,
                              float *out);
bool baseline_unsorted_max_f32(const struct baseline *b, const int32_t *ids, const float *data,
                               float *out);
bool baseline_unsorted_mean_f32(const struct baseline *b, const int32_t *ids, const float *data,
                                int32_t *counts, float *out);

/* memcpy, each thread a part. */
void baseline_copy(const float *from, float *to, int64_t n, int threads);

#endif
