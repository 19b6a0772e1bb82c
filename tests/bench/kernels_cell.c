#include "tests/bench/kernels_cell.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* clang-format off */
static const struct cell cells[] = {
    {"add f32 1e5->1e3 D1", ADD, DTYPE_FP32, 100000, {1000}, 1, 0, UNIFORM, false, 0.8},
    {"add f32 1e6->1e3 D1", ADD, DTYPE_FP32, 1000000, {1000}, 1, 0, UNIFORM, false, 8.0},
    {"add f32 1e6->1e7 D1", ADD, DTYPE_FP32, 1000000, {10000000}, 1, 0, UNIFORM, false, 88.0},
    {"add f32 1e6->1e5 D64", ADD, DTYPE_FP32, 1000000, {100000}, 64, 0, UNIFORM, false, 311.2},
    {"add f32 481385->556416 D80", ADD, DTYPE_FP32, 481385, {556416}, 80, 0, UNIFORM, false, 512.1},
    {"add f32 1e4->1e6 D64", ADD, DTYPE_FP32, 10000, {1000000}, 64, 0, UNIFORM, false, 514.6},
    {"add f32 1e4->1e6 D64 in place", ADD, DTYPE_FP32, 10000, {1000000}, 64, 0, UNIFORM, true, 514.6},
    {"add f32 40960->399 D128 one row", ADD, DTYPE_FP32, 40960, {399}, 128, 0, ONE_ROW, false, 21.5},
    {"add f16 1e6->1e5 D16", ADD, DTYPE_FP16, 1000000, {100000}, 16, 0, UNIFORM, false, 42.4},
    {"add bf16 1e6->1e5 D16", ADD, DTYPE_BF16, 1000000, {100000}, 16, 0, UNIFORM, false, 42.4},
    {"add i64 1e6->1e6 D1", ADD, DTYPE_INT64, 1000000, {1000000}, 1, 0, UNIFORM, false, 28.0},
    {"add f64 1e6->1e6 D4", ADD, DTYPE_FP64, 1000000, {1000000}, 4, 0, UNIFORM, false, 100.0},
    {"add f32 1e6->[1000,1000,8] depth 2", ADD, DTYPE_FP32, 1000000, {1000, 1000}, 8, 0, UNIFORM, false, 104.0},
    {"scatter_nd f32 1e6->1e6 D16", SCATTER_ND, DTYPE_FP32, 1000000, {1000000}, 16, 0, UNIFORM, false, 132.0},
    {"segment_mean f32 1e6 of 1e5 D64, 1e5 seg", MEAN, DTYPE_FP32, 1000000, {100000}, 64, 100000, UNIFORM, false, 59.2},
    {"segment_mean f32 1e6 of 1e6 D16, 2 seg", MEAN, DTYPE_FP32, 1000000, {1000000}, 16, 2, UNIFORM, false, 48.4},
    {"gather_nd f32 1e6 of 1e6 D16", GATHER, DTYPE_FP32, 1000000, {1000000}, 16, 0, UNIFORM, false, 108.4},
    {"segment_sum f32 1e6 D1, 1e5 seg", SEGMENT_SUM, DTYPE_FP32, 1000000, {100000}, 1, 0, UNIFORM, false, 8.4},
    {"segment_sum f32 1e6 D64, 1e5 seg", SEGMENT_SUM, DTYPE_FP32, 1000000, {100000}, 64, 0, UNIFORM, false, 285.6},
    {"unsorted_segment_sum f32 1e6->1e5 D1", UNSORTED_SUM, DTYPE_FP32, 1000000, {100000}, 1, 0, UNIFORM, false, 8.4},
    {"unsorted_segment_sum f32 1e6->1e5 D64", UNSORTED_SUM, DTYPE_FP32, 1000000, {100000}, 64, 0, UNIFORM, false, 285.6},
    {"unsorted_segment_max f32 1e6->1e5 D1", UNSORTED_MAX, DTYPE_FP32, 1000000, {100000}, 1, 0, UNIFORM, false, 8.4},
    {"unsorted_segment_max f32 1e6->1e5 D64", UNSORTED_MAX, DTYPE_FP32, 1000000, {100000}, 64, 0, UNIFORM, false, 285.6},
    {"unsorted_segment_mean f32 1e6->1e5 D1", UNSORTED_MEAN, DTYPE_FP32, 1000000, {100000}, 1, 0, UNIFORM, false, 8.4},
    {"unsorted_segment_mean f32 1e6->1e5 D64", UNSORTED_MEAN, DTYPE_FP32, 1000000, {100000}, 64, 0, UNIFORM, false, 285.6},
};
/* clang-format on */

int cell_count(void)
{
    return (int)(sizeof cells / sizeof *cells);
}

const struct cell *cell_at(int i)
{
    return &cells[i];
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

void *bench_memory(size_t bytes)
{
    size_t page = 2 << 20, whole = (bytes + page) / page * page;
    void *p = aligned_alloc(page, whole);
    assert(p);
    madvise(p, whole, MADV_HUGEPAGE);
    memset(p, 0, whole);
    return p;
}

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

static void fill_indices(struct cell_data *w, uint64_t *state)
{
    const struct cell *c = w->cell;
    for (int64_t k = 0; k < c->n; k++)
        for (int i = 0; i < w->depth; i++)
            w->indices[k * w->depth + i] =
                c->pattern == ONE_ROW ? 7 : (int32_t)(next_random(state) % (uint64_t)c->dims[i]);
    for (int64_t k = 0; c->kind == MEAN && k < c->n; k++)
        w->ids[k] = (int32_t)(k * c->segments / c->n);
    for (int64_t k = 0; c->kind == SEGMENT_SUM && k < c->n; k++)
        w->indices[k] = (int32_t)(k * c->dims[0] / c->n);
}

void cell_data_init(struct cell_data *w, const struct cell *c)
{
    uint64_t state = 88172645463325252;
    *w = (struct cell_data){.cell = c, .rows = 1};
    for (; w->depth < 3 && c->dims[w->depth]; w->depth++)
        w->rows *= c->dims[w->depth];
    size_t row = (size_t)c->width * dtype_bytes(c->dtype);
    w->table_bytes = (size_t)w->rows * row;
    w->values_bytes = (size_t)c->n * row;
    w->out_bytes = c->kind == GATHER ? w->values_bytes
                   : c->kind == MEAN ? (size_t)c->segments * row
                                     : w->table_bytes;
    w->table = bench_memory(w->table_bytes);
    w->values = bench_memory(w->values_bytes);
    w->out = bench_memory(w->out_bytes);
    w->index_bytes = (size_t)(c->n * w->depth) * sizeof *w->indices;
    w->indices = bench_memory(w->index_bytes);
    w->own = bench_memory(w->index_bytes);
    w->ids = bench_memory((size_t)c->n * 4);
    fill_values(c->dtype, w->table, w->table_bytes, &state);
    fill_values(c->dtype, w->values, w->values_bytes, &state);
    fill_indices(w, &state);
    memcpy(w->own, w->indices, w->index_bytes); /* the plan may read the indices */
}

void cell_data_release(struct cell_data *w)
{
    free(w->table);
    free(w->values);
    free(w->out);
    free(w->indices);
    free(w->own);
    free(w->ids);
}
