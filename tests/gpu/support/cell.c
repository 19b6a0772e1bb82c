#include "tests/gpu/support/cell.h"

#include <assert.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t draw(void)
{
    static uint64_t state = 12345;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

static void *allocate(size_t bytes)
{
    void *data = aligned_alloc(64, (bytes + 64) / 64 * 64);
    assert(data);
    memset(data, 0, bytes);
    return data;
}

static struct tensor make(enum dtype dtype, int rank, const int64_t *shape)
{
    struct tensor t = {.dtype = dtype, .rank = rank};
    size_t bytes;
    memcpy(t.shape, shape, (size_t)rank * sizeof *shape);
    bool counted = tensor_bytes(&t, &bytes);
    assert(counted);
    t.data = allocate(bytes);
    return t;
}

/* Numbers about 1, of which no sum is exact. */
static void fill(struct tensor *t)
{
    int64_t count;
    bool counted = tensor_count(t, &count);
    assert(counted);
    for (int64_t i = 0; i < count; i++) {
        uint32_t r = draw();
        switch (t->dtype) {
        case DTYPE_FP32:
            ((float *)t->data)[i] = 0.5f + (float)(r & 0xFFFF) / 65536;
            break;
        case DTYPE_FP64:
            ((double *)t->data)[i] = 0.5 + (double)r / 4294967296.0;
            break;
        case DTYPE_FP16:
            ((uint16_t *)t->data)[i] = (uint16_t)(0x3800 | (r & 0x3FF));
            break;
        case DTYPE_BF16:
            ((uint16_t *)t->data)[i] = (uint16_t)(0x3F00 | (r & 0x7F));
            break;
        default:
            ((int64_t *)t->data)[i] = (int64_t)r;
        }
    }
}

static int64_t table_shape(const struct cell *c, int64_t *shape)
{
    int rank = 0;
    if (c->depth == 2) {
        shape[rank++] = c->rows / 1000 > 0 ? c->rows / 1000 : 1;
        shape[rank++] = c->rows < 1000 ? c->rows : 1000;
    } else {
        shape[rank++] = c->rows;
    }
    if (c->width > 1)
        shape[rank++] = c->width;
    return rank;
}

static void draw_indices(const struct cell *c, struct tensor *indices, const int64_t *shape)
{
    for (int64_t k = 0; k < c->updates * c->depth; k++)
        ((int32_t *)indices->data)[k] =
            c->one_row ? 7 : (int32_t)(draw() % (uint32_t)shape[k % c->depth]);
}

static void make_inputs(struct work *w)
{
    const struct cell *c = &w->cell;
    int64_t shape[3], tuple[2] = {c->updates, c->depth}, row[2] = {c->updates, c->width};
    int rank = (int)table_shape(c, shape);
    struct tensor table = make(c->dtype, rank, shape);
    struct tensor updates = make(c->dtype, c->width > 1 ? 2 : 1, row);
    struct tensor indices = make(DTYPE_INT32, c->segments ? 1 : 2, tuple);
    draw_indices(c, &indices, shape);
    fill(&table);
    fill(&updates);
    if (strcmp(c->op, "scatter_nd") == 0) {
        int64_t length = rank;
        struct tensor output = make(DTYPE_INT64, 1, &length);
        memcpy(output.data, shape, (size_t)rank * sizeof *shape);
        w->inputs[0] = indices;
        w->inputs[1] = updates;
        w->inputs[2] = output;
        free(table.data);
        return;
    }
    w->inputs[0] = table;
    w->inputs[1] = indices;
    w->inputs[2] = updates;
    if (!c->segments && strcmp(c->op, "gather_nd") != 0)
        return;
    free(updates.data);
    w->inputs[2] = (struct tensor){.dtype = DTYPE_NONE};
    if (!c->segments)
        return;
    w->inputs[2] = make(DTYPE_INT32, 1, &c->updates);
    for (int64_t k = 0; k < c->updates; k++)
        ((int32_t *)w->inputs[2].data)[k] = (int32_t)(k * c->segments / c->updates);
}

static size_t bytes_of(const struct tensor *t)
{
    size_t bytes;
    bool counted = tensor_bytes(t, &bytes);
    assert(counted);
    return bytes;
}

static void plan(struct work *w, struct plan *p, int threads)
{
    struct plan_options options = {.output_limit = SIZE_MAX, .threads = threads};
    struct op_name name;
    struct error error;
    bool known = op_find(w->cell.op, strlen(w->cell.op), &name);
    enum error_code code = plan_make(p, &name, w->inputs, &options, &error);
    if (!known || code != ERROR_NONE) {
        fprintf(stderr, "%s: %s\n", w->cell.name, error.message);
        exit(1);
    }
    p->output.data = allocate(p->output_bytes);
    p->scratch = allocate(p->scratch_bytes);
}

/* Updates and indices are read, addressed rows are read and written (or only written). */
static size_t moved_bytes(const struct work *w)
{
    const struct plan *p = &w->plan;
    const struct rows *rows = &p->rows;
    size_t row = (size_t)rows->width * dtype_bytes(p->dtype);
    size_t indices = bytes_of(p->indices) + (p->segment_ids ? bytes_of(p->segment_ids) : 0);
    size_t addressed = (size_t)(rows->count < rows->limit ? rows->count : rows->limit) * row;
    if (p->kind != PLAN_SCATTER)
        return indices + (size_t)rows->count * row + p->output_bytes;
    size_t zeros = p->start ? 0 : p->output_bytes;
    return indices + (size_t)rows->count * row + 2 * addressed + zeros;
}

static int64_t scaled(int64_t n, int64_t scale)
{
    return n / scale > 8 ? n / scale : 8;
}

void work_init(struct work *w, const struct cell *cell, int64_t scale)
{
    *w = (struct work){.cell = *cell};
    w->cell.updates = scaled(cell->updates, scale);
    w->cell.rows = scaled(cell->rows, scale);
    make_inputs(w);
    plan(w, &w->plan, 1);
    plan(w, &w->cpu, omp_get_max_threads());
    w->indices = allocate(bytes_of(w->plan.indices));
    memcpy(w->indices, w->plan.indices->data, bytes_of(w->plan.indices));
    w->moved_bytes = moved_bytes(w);
}

void work_restore(struct work *w)
{
    memcpy(w->plan.indices->data, w->indices, bytes_of(w->plan.indices));
}

void work_release(struct work *w)
{
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        free(w->inputs[i].data);
    free(w->indices);
    free(w->plan.output.data);
    free(w->plan.scratch);
    free(w->cpu.output.data);
    free(w->cpu.scratch);
}
