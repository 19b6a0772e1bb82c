/* device: what the host asks of the device. The host's side of the backend is C and knows no
 * kernel; the kernels' side (*.cu) knows no plan. Between them are these jobs, given to a kernel by
 * value, and the functions that launch it. All pointers in a job are the device's.
 *
 * Row numbers are 32 bits: a plan that needs more stays on the CPU. A row number that is not below
 * its limit belongs to a row left out. Nothing here allocates or waits. A function that launches
 * returns what the launch returned; with nothing to do it launches nothing. */
#ifndef KERNELS_CUDA_DEVICE_H
#define KERNELS_CUDA_DEVICE_H

#include "kernels/dtype.h"
#include "kernels/limits.h"
#include "kernels/op.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a check found. The places are complements, so that all zeros say "nothing found" and the
 * largest of them is the first place. */
struct verdict {
    unsigned long long first_bad;      /* row of the indices */
    unsigned long long bad;            /* how many of them */
    unsigned long long duplicates;     /* rows whose destination has come before */
    unsigned long long first_unsorted; /* segment id below the one before it */
    unsigned long long first_negative; /* segment id */
    unsigned long long first_beyond;   /* segment id that is not below the number of segments */
    unsigned long long first_zero;     /* row of the updates that holds an integer zero */
};

/* ---------------------------------------------------------------------------------- check.cu */

/* Reads every index tuple once: row[k] is its row number, or limit where it is left out. */
struct check_rows {
    struct verdict *verdict; /* zeroed */
    const void *indices;
    bool are_ids;            /* segment ids in any order: a negative one drops its row */
    int index_bits;          /* 32 or 64 */
    int depth;               /* components of a tuple; 0: row 0 */
    int64_t bound[RANK_MAX]; /* of each component */
    int64_t count;           /* tuples */
    uint32_t limit;          /* product of the bounds */
    uint32_t *row;
    uint32_t *seen; /* a bit for each row below limit, zeroed; NULL: duplicates don't matter */
    const void *divisors; /* count rows of `width` integers to search for zeros; NULL: don't */
    int divisor_bytes;
    int64_t width; /* at least 1 where there are divisors */
};

cudaError_t cuda_check_rows(const struct check_rows *job, cudaStream_t stream);

/* Reads every pair once: key[k] is its segment, source[k] the row of the table to add, or limit
 * where the index is bad. Keys mean nothing when an id is at fault. */
struct check_pairs {
    struct verdict *verdict; /* zeroed */
    const void *indices;     /* NULL: pair k means row k */
    const void *ids;
    int index_bits, id_bits;
    int64_t count;
    int64_t segments; /* rows of the output */
    uint32_t limit;   /* rows of the table */
    uint32_t *key, *source;
};

cudaError_t cuda_check_pairs(const struct check_pairs *job, cudaStream_t stream);

/* ----------------------------------------------------------------------------------- sort.cu */

/* Sorts (row, position), stably, so that the updates of one row stand together in request order. */
struct sort {
    uint32_t *key, *key_spare; /* key: the rows to sort, at most `limit` */
    uint32_t *position, *position_spare;
    void *temporary; /* cuda_sort_bytes(count) bytes */
    size_t temporary_bytes;
    int64_t count; /* at most INT32_MAX */
    uint32_t limit;
};

/* Bytes of memory that sorting needs besides its arrays. */
cudaError_t cuda_sort_bytes(int64_t count, size_t *bytes);

/* Afterwards job->key and job->position are the sorted arrays, the spares are undefined. */
cudaError_t cuda_sort(struct sort *job, cudaStream_t stream);

/* ----------------------------------------------------------------------------------- move.cu */

/* Whole rows, moved without looking into them. */
struct move {
    void *out;
    const void *in;
    const uint32_t *row;      /* for each of count rows, see below */
    const uint32_t *position; /* cuda_put_last only */
    int64_t count;
    uint32_t limit;
    size_t row_bytes;
};

/* out[k] = in[row[k]]; zeros where row[k] is left out. */
cudaError_t cuda_gather(const struct move *job, cudaStream_t stream);

/* out[row[k]] = in[k]. No two rows that count are equal. */
cudaError_t cuda_put(const struct move *job, cudaStream_t stream);

/* out[row[k]] = in[position[k]] for the last k of each run of equal rows: `row` is sorted. */
cudaError_t cuda_put_last(const struct move *job, cudaStream_t stream);

/* out[row[k]] |= in[k] for BOOL: any order, `out` starts as zeros and has whole words. */
cudaError_t cuda_or(const struct move *job, cudaStream_t stream);

/* out[i] = the element, `count` times. */
struct fill {
    void *out;
    int64_t count;
    int element_bytes;
    uint64_t element; /* in its first bytes */
};

cudaError_t cuda_fill(const struct fill *job, cudaStream_t stream);

/* -------------------------------------------------------------------------------- numbers.cu */

/* Update k combines into row row[k]; in any order, so no two rows that count are equal. */
struct scatter {
    void *out;
    const void *updates;
    const uint32_t *row;
    int64_t count, width;
    uint32_t limit;
};

cudaError_t cuda_scatter(enum combine combine, enum dtype dtype, const struct scatter *job,
                         cudaStream_t stream);

/* Runs of equal keys, each for one row of the output: row source[k] of `values` is combined for
 * each k of the run, in the order of k. */
struct runs {
    void *out;
    const void *values;
    const uint32_t *key, *source;
    int64_t count, width;
    uint32_t keys;      /* a key that is not below belongs to a row left out */
    uint32_t sources;   /* a source that is not below is left out */
    enum finish finish; /* cuda_segments only */
};

/* Updates with duplicate rows, sorted: out starts with the tensor. */
cudaError_t cuda_scatter_runs(enum combine combine, enum dtype dtype, const struct runs *job,
                              cudaStream_t stream);

/* Segments, sorted ids too: out starts with what a row holds that has none. */
cudaError_t cuda_segments(enum combine combine, enum dtype dtype, const struct runs *job,
                          cudaStream_t stream);

/* Whether scatter, segments and finish above have kernels for such elements. */
bool cuda_computes(enum combine combine, enum dtype dtype);

#ifdef __cplusplus
}
#endif

#endif
