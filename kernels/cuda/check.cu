#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/flatten.h"

static __device__ void note_first(unsigned long long *first, int64_t place)
{
    atomicMax(first, ~(unsigned long long)place);
}

/* Adds how many threads of the block say yes; called by all of them. */
static __device__ void count(unsigned long long *total, bool yes)
{
    int n = __syncthreads_count(yes);
    if (threadIdx.x == 0 && n > 0)
        atomicAdd(total, (unsigned long long)n);
}

static __device__ bool is_zero(const void *values, int bytes, int64_t i)
{
    switch (bytes) {
    case 1:
        return ((const uint8_t *)values)[i] == 0;
    case 2:
        return ((const uint16_t *)values)[i] == 0;
    case 4:
        return ((const uint32_t *)values)[i] == 0;
    default:
        return ((const uint64_t *)values)[i] == 0;
    }
}

/* Whether another thread has come for this row before. Which thread comes first varies, but not how
 * many come after it. */
static __device__ bool seen_before(uint32_t *seen, uint32_t row)
{
    uint32_t bit = 1u << (row & 31);
    return (atomicOr(&seen[row >> 5], bit) & bit) != 0;
}

/* Columns are threads of one row that look for zeros; the first of them checks the row. */
template <int BITS> static __global__ void check_rows(const __grid_constant__ struct check_rows job)
{
    struct element e = this_element(job.divisors ? job.width : 1);
    bool within = e.row < job.count, first = within && e.column == 0;
    int64_t row = within ? flatten(job.indices, BITS, e.row, job.depth, job.bound) : 0;
    bool out = row < 0, duplicate = false;
    if (first) {
        job.row[e.row] = out ? job.limit : (uint32_t)row;
        if (out && !job.are_ids)
            note_first(&job.verdict->first_bad, e.row);
        else if (out && index_load(job.indices, BITS, e.row) >= 0)
            note_first(&job.verdict->first_beyond, e.row);
        else if (!out && job.seen)
            duplicate = seen_before(job.seen, (uint32_t)row);
    }
    if (within && !out && job.divisors &&
        is_zero(job.divisors, job.divisor_bytes, e.row * job.width + e.column))
        note_first(&job.verdict->first_zero, e.row);
    count(&job.verdict->bad, first && out && !job.are_ids);
    count(&job.verdict->duplicates, duplicate);
}

cudaError_t cuda_check_rows(const struct check_rows *job, cudaStream_t stream)
{
    return launch(job->index_bits == 32 ? check_rows<32> : check_rows<64>, job, job->count,
                  job->divisors ? job->width : 1, stream);
}

static __global__ void check_pairs(struct check_pairs job)
{
    int64_t k = this_thread();
    bool bad = false;
    if (k < job.count) {
        int64_t id = index_load(job.ids, job.id_bits, k);
        if (k > 0 && id < index_load(job.ids, job.id_bits, k - 1))
            note_first(&job.verdict->first_unsorted, k);
        if (id < 0)
            note_first(&job.verdict->first_negative, k);
        if (id >= job.segments)
            note_first(&job.verdict->first_beyond, k);
        int64_t row = job.indices ? index_load(job.indices, job.index_bits, k) : k;
        bad = !index_inside(row, job.limit);
        if (bad)
            note_first(&job.verdict->first_bad, k);
        job.key[k] = (uint32_t)id;
        job.source[k] = bad ? job.limit : (uint32_t)row;
    }
    count(&job.verdict->bad, bad);
}

cudaError_t cuda_check_pairs(const struct check_pairs *job, cudaStream_t stream)
{
    return launch(check_pairs, job, job->count, 1, stream);
}
