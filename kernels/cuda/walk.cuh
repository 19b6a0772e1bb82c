/* walk: a run of equal keys, folded in order into one accumulator. One thread walks a run for one
 * column: neighbours take neighbouring columns, so wide rows are read whole. A long run of narrow
 * rows would leave a warp waiting for one thread; there the warp reads the run together, a stretch
 * at a time, and passes the values around in their order. */
#ifndef KERNELS_CUDA_WALK_CUH
#define KERNELS_CUDA_WALK_CUH

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.cuh"

enum {
    WALK_BATCH = 8,  /* reads in flight for one thread */
    WALK_ALONE = 64, /* elements of a run before the warp helps, ... */
    WALK_NARROW = 8  /* ... where rows have fewer columns */
};

static const unsigned WHOLE_WARP = 0xFFFFFFFFu;

/* Where a walk stands. Fold is a struct of the accumulator with `void add(Element)`. */
template <class Fold> struct walk {
    int64_t at; /* next element of the run */
    int64_t column;
    uint32_t key;
    Fold fold;
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

/* Any value of at most 8 bytes from another lane. */
template <class Value> static __device__ Value from_lane(Value value, int lane)
{
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = sizeof value <= 4 ? __shfl_sync(WHOLE_WARP, (unsigned)bits, lane)
                             : __shfl_sync(WHOLE_WARP, bits, lane);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Folds what is left of lane `owner`'s run. Every lane folds the same, the owner keeps it. */
template <class Element, class Fold>
static __device__ void walk_together(const struct runs *runs, struct walk<Fold> *walk, int owner)
{
    int lane = threadIdx.x % WARP_THREADS;
    int64_t at = from_lane(walk->at, owner), column = from_lane(walk->column, owner);
    uint32_t key = from_lane(walk->key, owner);
    bool ended = false;
    while (!ended) {
        bool within = in_run(runs, at + lane, key), counts = false;
        Element element = Element();
        if (within)
            element = read_source<Element>(runs, at + lane, column, &counts);
        unsigned counting = __ballot_sync(WHOLE_WARP, counts);
        ended = !__all_sync(WHOLE_WARP, within);
        for (int i = 0; i < WARP_THREADS; i++) {
            Element next = from_lane(element, i);
            if (lane == owner && counting >> i & 1)
                walk->fold.add(next);
        }
        at += WARP_THREADS;
    }
}

/* Called by whole warps; `walks`: this thread has a run. */
template <class Element, class Fold>
static __device__ void walk_run(const struct runs *runs, struct walk<Fold> *walk, bool walks)
{
    bool narrow = runs->width < WALK_NARROW;
    bool left = walks && !walk_alone<Element>(runs, walk, narrow ? WALK_ALONE : INT64_MAX);
    unsigned waiting = narrow ? __ballot_sync(WHOLE_WARP, left) : 0;
    for (; waiting; waiting &= waiting - 1)
        walk_together<Element>(runs, walk, __ffs((int)waiting) - 1);
}

#endif
