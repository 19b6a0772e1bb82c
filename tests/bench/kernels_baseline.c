#include "tests/bench/kernels_baseline.h"
#include "kernels/inline.h"

#include <float.h>
#include <omp.h>
#include <stddef.h>
#include <string.h>

/* Made for the instructions that the kernels choose at run time on a machine of today. */
#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC target("avx2,fma,f16c,bmi2")
#include <immintrin.h>
#endif

enum { AHEAD = 16 };

ALWAYS_INLINE int64_t linear(const struct baseline *b, const int32_t *indices, int64_t depth,
                             int64_t m)
{
    int64_t at = 0;
    for (int64_t k = 0; k < depth; k++)
        at = at * b->dims[k] + indices[m * depth + k];
    return at;
}

static bool all_inside(const struct baseline *b, const int32_t *indices)
{
    unsigned bad = 0;
    if (b->depth == 1) {
        for (int64_t m = 0; m < b->n; m++)
            bad |= (uint32_t)indices[m] >= (uint32_t)b->dims[0];
        return !bad;
    }
    for (int64_t m = 0; m < b->n; m++)
        for (int64_t k = 0; k < b->depth; k++)
            bad |= (uint32_t)indices[m * b->depth + k] >= (uint32_t)b->dims[k];
    return !bad;
}

ALWAYS_INLINE void add_f32(float *o, const float *u, int64_t d)
{
    for (int64_t j = 0; j < d; j++)
        o[j] += u[j];
}

ALWAYS_INLINE void add_f64(double *o, const double *u, int64_t d)
{
    for (int64_t j = 0; j < d; j++)
        o[j] += u[j];
}

ALWAYS_INLINE void add_i64(int64_t *o, const int64_t *u, int64_t d)
{
    for (int64_t j = 0; j < d; j++)
        o[j] += u[j];
}

/* d is a multiple of 8. */
ALWAYS_INLINE void add_f16(uint16_t *o, const uint16_t *u, int64_t d)
{
#ifdef __F16C__
    for (int64_t j = 0; j < d; j += 8) {
        __m256 a = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(o + j)));
        __m256 x = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(u + j)));
        _mm_storeu_si128((__m128i *)(o + j), _mm256_cvtps_ph(_mm256_add_ps(a, x), 0));
    }
#else
    for (int64_t j = 0; j < d; j++) {
        _Float16 a, x;
        memcpy(&a, o + j, 2);
        memcpy(&x, u + j, 2);
        a = (_Float16)((float)a + (float)x);
        memcpy(o + j, &a, 2);
    }
#endif
}

ALWAYS_INLINE void add_bf16(uint16_t *o, const uint16_t *u, int64_t d)
{
    for (int64_t j = 0; j < d; j++) {
        union {
            uint32_t i;
            float f;
        } a = {(uint32_t)o[j] << 16}, x = {(uint32_t)u[j] << 16};
        a.f += x.f;
        o[j] = (uint16_t)((a.i + 0x7FFF + (a.i >> 16 & 1)) >> 16);
    }
}

ALWAYS_INLINE void prefetch(const void *row, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += 64)
        __builtin_prefetch((const char *)row + at, 1);
}

/* Called with constant d, depth, ahead and own, apply gives a loop made for that case. own: only
 * rows low..high-1; narrow updates of others go to `other`, so that there is no branch to guess. */
#define SCATTER(NAME, T)                                                                           \
    ALWAYS_INLINE void apply_##NAME(const struct baseline *b, const int32_t *indices,              \
                                    const T *updates, T *out, int64_t low, int64_t high,           \
                                    int64_t d, int64_t depth, int64_t ahead, bool own)             \
    {                                                                                              \
        T other[8] = {0};                                                                          \
        for (int64_t m = 0; m < b->n; m++) {                                                       \
            int64_t r = linear(b, indices, depth, m);                                              \
            if (ahead && m + ahead < b->n) {                                                       \
                int64_t q = linear(b, indices, depth, m + ahead);                                  \
                if (d == 1 || !own || (q >= low && q < high))                                      \
                    prefetch(out + q * d, d * (int64_t)sizeof(T));                                 \
            }                                                                                      \
            if (own && d == 1) {                                                                   \
                uintptr_t mine = -(uintptr_t)((uint64_t)(r - low) < (uint64_t)(high - low));       \
                uintptr_t at = ((uintptr_t)(out + r) & mine) | ((uintptr_t)other & ~mine);         \
                add_##NAME((T *)at, updates + m, 1);                                               \
            } else if (!own || (r >= low && r < high))                                             \
                add_##NAME(out + r * d, updates + m * d, d);                                       \
        }                                                                                          \
    }                                                                                              \
    bool baseline_add_##NAME(const struct baseline *b, const T *base, const int32_t *indices,      \
                             const T *updates, T *out)                                             \
    {                                                                                              \
        if (!all_inside(b, indices))                                                               \
            return false;                                                                          \
        int64_t d = b->d;                                                                          \
        _Pragma("omp parallel num_threads(b->threads)")                                            \
        {                                                                                          \
            int64_t me = omp_get_thread_num(), team = omp_get_num_threads();                       \
            int64_t low = b->rows * me / team, high = b->rows * (me + 1) / team;                   \
            size_t bytes = (size_t)((high - low) * d) * sizeof(T);                                 \
            if (base)                                                                              \
                memcpy(out + low * d, base + low * d, bytes);                                      \
            else                                                                                   \
                memset(out + low * d, 0, bytes);                                                   \
            if (b->depth > 1)                                                                      \
                apply_##NAME(b, indices, updates, out, low, high, d, 2, b->prefetch ? AHEAD : 0,   \
                             true);                                                                \
            else if (d > 1 && b->prefetch)                                                         \
                apply_##NAME(b, indices, updates, out, low, high, d, 1, AHEAD, true);              \
            else if (d > 1)                                                                        \
                apply_##NAME(b, indices, updates, out, low, high, d, 1, 0, true);                  \
            else if (b->prefetch && team > 1)                                                      \
                apply_##NAME(b, indices, updates, out, low, high, 1, 1, AHEAD, true);              \
            else if (b->prefetch)                                                                  \
                apply_##NAME(b, indices, updates, out, low, high, 1, 1, AHEAD, false);             \
            else if (team > 1)                                                                     \
                apply_##NAME(b, indices, updates, out, low, high, 1, 1, 0, true);                  \
            else                                                                                   \
                apply_##NAME(b, indices, updates, out, low, high, 1, 1, 0, false);                 \
        }                                                                                          \
        return true;                                                                               \
    }
SCATTER(f32, float)
SCATTER(f64, double)
SCATTER(i64, int64_t)
SCATTER(f16, uint16_t)
SCATTER(bf16, uint16_t)

bool baseline_gather_f32(const struct baseline *b, const float *table, const int32_t *indices,
                         float *out)
{
    if (!all_inside(b, indices))
        return false;
    int64_t d = b->d;
#pragma omp parallel for num_threads(b->threads) schedule(static)
    for (int64_t m = 0; m < b->n; m++) {
        const float *row = table + (int64_t)indices[m] * d;
        if (b->prefetch && m + AHEAD < b->n)
            prefetch(table + (int64_t)indices[m + AHEAD] * d, d * 4);
        for (int64_t j = 0; j < d; j++)
            out[m * d + j] = row[j];
    }
    return true;
}

static int64_t first_pair(const int32_t *ids, int64_t n, int64_t id)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool baseline_mean_f32(const struct baseline *b, const float *table, const int32_t *indices,
                       const int32_t *ids, int64_t segments, float *out)
{
    if (!all_inside(b, indices))
        return false;
    int64_t d = b->d;
#pragma omp parallel num_threads(b->threads)
    {
        int64_t me = omp_get_thread_num(), team = omp_get_num_threads();
        int64_t low = segments * me / team, high = segments * (me + 1) / team;
        memset(out + low * d, 0, (size_t)((high - low) * d) * 4);
        for (int64_t m = first_pair(ids, b->n, low); m < b->n && ids[m] < high;) {
            int64_t first = m;
            float *o = out + ids[first] * d;
            for (; m < b->n && ids[m] == ids[first]; m++) {
                if (b->prefetch && m + AHEAD < b->n)
                    prefetch(table + (int64_t)indices[m + AHEAD] * d, d * 4);
                add_f32(o, table + (int64_t)indices[m] * d, d);
            }
            for (int64_t j = 0; j < d; j++)
                o[j] /= (float)(m - first);
        }
    }
    return true;
}

bool baseline_segment_sum_f32(const struct baseline *b, const int32_t *ids, const float *data,
                              float *out)
{
    if (!all_inside(b, ids))
        return false;
    int64_t d = b->d;
#pragma omp parallel num_threads(b->threads)
    {
        int64_t me = omp_get_thread_num(), team = omp_get_num_threads();
        int64_t low = b->rows * me / team, high = b->rows * (me + 1) / team;
        memset(out + low * d, 0, (size_t)((high - low) * d) * sizeof *out);
        for (int64_t m = first_pair(ids, b->n, low); m < b->n && ids[m] < high; m++)
            if (d == 1)
                out[ids[m]] += data[m];
            else
                add_f32(out + ids[m] * d, data + m * d, d);
    }
    return true;
}

ALWAYS_INLINE void max_f32(float *o, const float *u, int64_t d)
{
    for (int64_t j = 0; j < d; j++)
        o[j] = u[j] > o[j] ? u[j] : o[j];
}

/* Called with constants, as apply is. */
ALWAYS_INLINE void max_rows(const struct baseline *b, const int32_t *ids, const float *data,
                            float *out, int64_t low, int64_t high, int64_t d, int64_t ahead,
                            bool own)
{
    for (int64_t m = 0; m < b->n; m++) {
        int64_t r = ids[m];
        if (ahead && m + ahead < b->n)
            prefetch(out + ids[m + ahead] * d, d * 4);
        if (!own || (r >= low && r < high))
            max_f32(out + r * d, data + m * d, d);
    }
}

bool baseline_unsorted_max_f32(const struct baseline *b, const int32_t *ids, const float *data,
                               float *out)
{
    if (!all_inside(b, ids))
        return false;
    int64_t d = b->d;
#pragma omp parallel num_threads(b->threads)
    {
        int64_t me = omp_get_thread_num(), team = omp_get_num_threads();
        int64_t low = b->rows * me / team, high = b->rows * (me + 1) / team;
        for (int64_t i = low * d; i < high * d; i++)
            out[i] = -FLT_MAX;
        if (d == 1 && team == 1)
            max_rows(b, ids, data, out, low, high, 1, 0, false);
        else if (d == 1)
            max_rows(b, ids, data, out, low, high, 1, 0, true);
        else if (b->prefetch)
            max_rows(b, ids, data, out, low, high, d, AHEAD, true);
        else
            max_rows(b, ids, data, out, low, high, d, 0, true);
    }
    return true;
}

bool baseline_unsorted_mean_f32(const struct baseline *b, const int32_t *ids, const float *data,
                                int32_t *counts, float *out)
{
    if (!baseline_add_f32(b, NULL, ids, data, out))
        return false;
    memset(counts, 0, (size_t)b->rows * sizeof *counts);
    for (int64_t m = 0; m < b->n; m++)
        counts[ids[m]]++;
#pragma omp parallel for num_threads(b->threads) schedule(static)
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t j = 0; counts[r] > 0 && j < b->d; j++)
            out[r * b->d + j] /= (float)counts[r];
    return true;
}

void baseline_copy(const float *from, float *to, int64_t n, int threads)
{
#pragma omp parallel num_threads(threads)
    {
        int64_t me = omp_get_thread_num(), team = omp_get_num_threads();
        int64_t low = n * me / team, high = n * (me + 1) / team;
        memcpy(to + low, from + low, (size_t)(high - low) * sizeof *to);
    }
}
