/* kernels_cell: the cells of the kernels' benchmark: an operation on tensors of one shape, with the
 * memory that ours and the baseline take turns on. */
#ifndef TESTS_BENCH_KERNELS_CELL_H
#define TESTS_BENCH_KERNELS_CELL_H

#include "kernels/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From SEGMENT_SUM on the values are folded by ids, which are the indices; the first dimension of
 * the table is the number of segments. */
enum kind { ADD, SCATTER_ND, GATHER, MEAN, SEGMENT_SUM, UNSORTED_SUM, UNSORTED_MAX, UNSORTED_MEAN };
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
};

int cell_count(void);
const struct cell *cell_at(int i);

struct cell_data {
    const struct cell *cell;
    int depth;
    int64_t rows; /* of the table */
    size_t table_bytes, values_bytes, out_bytes, index_bytes;
    void *table, *values, *out;
    int32_t *indices;   /* as a client sends them */
    int32_t *own, *ids; /* own: a copy that was just written, as a server's is */
    int32_t out_shape[4];
};

void cell_data_init(struct cell_data *data, const struct cell *cell);
void cell_data_release(struct cell_data *data);

/* Touched memory in whole 2 MiB pages, as the server's; free() it. */
void *bench_memory(size_t bytes);

#endif
