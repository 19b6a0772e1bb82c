/* walk: a run of equal keys, folded in order into one accumulator. One thread walks a run for one
 * column: neighbours take neighbouring columns, so wide rows are read whole. A long run of narrow
 * rows would leave the memory waiting for few threads; there the block reads the run together, a
 * stretch at a time, through shared memory. */
#ifndef KERNELS_CUDA_WALK_CUH
#define KERNELS_CUDA_WALK_CUH

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.cuh"

enum {
    WALK_BATCH = 8,   /* reads in flight for one thread */
    WALK_ALONE = 64,  /* elements of a run before the block helps, ... */
    WALK_NARROW = 64, /* ... where rows have no more columns */
    WALK_TILE = 1024  /* elements that the block reads at a time */
};

/* Where a walk stands. Fold is a struct of the accumulator with `void add(Element)`. */
template <class Fold> struct walk {
    int64_t at; /* next element of the run */
    int64_t column;
    uint32_t key;
    Fold fold;
};

/* The rest of a run, from its first column that a block has. */
struct stretch {
    int64_t at, column;
    uint32_t key;
};

/* The thread's run, if its element is the first of one that counts. */
static __device__ bool starts_run(const struct runs *runs, struct element e)
{
    if (e.row >= runs->count || runs->key[e.row] >= runs->keys)
        return false;
    return e.row == 0 || runs->key[e.row - 1] != runs->key[e.row];
}

static __device__ bool in_run(const struct runs *runs, int64_t k, uint32_t key)
{
    return k < runs->count && runs->key[k] == key;
}

template <class Element>
static __device__ Element read_source(const struct runs *runs, int64_t k, int64_t column,
                                      bool *counts)
{
    uint32_t source = runs->source[k];
    *counts = source < runs->sources;
    return *counts ? ((const Element *)runs->values)[source * runs->width + column] : Element();
}

/* Folds up to `most` elements, and returns whether the run has ended. The reads of a batch do not
 * wait for one another, only the folding does. */
template <class Element, class Fold>
static __device__ bool walk_alone(const struct runs *runs, struct walk<Fold> *walk, int64_t most)
{
    for (int64_t done = 0; done < most; done += WALK_BATCH) {
        Element element[WALK_BATCH];
        bool within[WALK_BATCH], counts[WALK_BATCH];
#pragma unroll
        for (int i = 0; i < WALK_BATCH; i++) {
            within[i] = in_run(runs, walk->at + i, walk->key);
            counts[i] = false;
            if (within[i])
                element[i] = read_source<Element>(runs, walk->at + i, walk->column, &counts[i]);
        }
#pragma unroll
        for (int i = 0; i < WALK_BATCH; i++)
            if (counts[i])
                walk->fold.add(element[i]);
        if (!within[WALK_BATCH - 1])
            return true;
        walk->at += WALK_BATCH;
    }
    return false;
}

/* Chooses the run of the first thread whose run has not ended. Called by whole blocks. */
template <class Fold>
static __device__ void elect_run(struct stretch *run, unsigned *first,
                                 const struct walk<Fold> *walk, bool left)
{
    if (threadIdx.x == 0)
        *first = BLOCK_THREADS;
    __syncthreads();
    if (left)
        atomicMin(first, threadIdx.x);
    __syncthreads();
    if (threadIdx.x == *first)
        *run = {walk->at, walk->column, walk->key};
    __syncthreads();
}

/* Reads `rows` rows of a run into the tile, `columns` columns from the run's first; counts[row]
 * says which are not left out. Returns to all threads whether the run ends within. Called by whole
 * blocks.
 */
template <class Element>
static __device__ bool load_tile(const struct runs *runs, const struct stretch *run, int64_t at,
                                 int rows, int columns, Element *tile, bool *counts)
{
    bool ended = false;
    for (int i = (int)threadIdx.x; i < rows * columns; i += (int)blockDim.x) {
        int row = i / columns, column = i % columns;
        bool counted = false;
        if (in_run(runs, at + row, run->key))
            tile[i] = read_source<Element>(runs, at + row, run->column + column, &counted);
        else
            ended = true;
        if (column == 0)
            counts[row] = counted;
    }
    return __syncthreads_or(ended);
}

/* Folds one column of the tile. */
template <class Element, class Fold>
static __device__ void fold_tile(Fold *fold, const Element *tile, const bool *counts, int rows,
                                 int columns, int64_t column)
{
    for (int row = 0; row < rows; row++)
        if (counts[row])
            fold->add(tile[row * columns + column]);
}

/* Folds what is left of the runs of a block's threads, one run after the other: the block reads a
 * tile of it, all columns that its threads have, and each of those threads folds its column in
 * order. `left`: this thread's run has not ended. Threads of one run have the same key, and
 * neighbouring columns. Called by whole blocks. */
template <class Element, class Fold>
static __device__ void walk_together(const struct runs *runs, struct walk<Fold> *walk, bool left)
{
    __shared__ Element tile[WALK_TILE];
    __shared__ bool counts[WALK_TILE];
    __shared__ struct stretch run;
    __shared__ unsigned first;
    while (__syncthreads_or(left)) {
        elect_run(&run, &first, walk, left);
        bool mine = left && walk->key == run.key;
        int columns = __syncthreads_count(mine), rows = WALK_TILE / columns;
        bool ended = false;
        for (int64_t at = run.at; !ended; at += rows) {
            ended = load_tile(runs, &run, at, rows, columns, tile, counts);
            if (mine)
                fold_tile(&walk->fold, tile, counts, rows, columns, walk->column - run.column);
            __syncthreads();
        }
        left = left && !mine;
    }
}

/* Called by whole blocks; `walks`: this thread has a run. */
template <class Element, class Fold>
static __device__ void walk_run(const struct runs *runs, struct walk<Fold> *walk, bool walks)
{
    bool narrow = runs->width <= WALK_NARROW;
    bool left = walks && !walk_alone<Element>(runs, walk, narrow ? WALK_ALONE : INT64_MAX);
    if (narrow)
        walk_together<Element>(runs, walk, left);
}

#endif
