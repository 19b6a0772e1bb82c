#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.cuh"

#include <cub/device/device_radix_sort.cuh>

/* Up to so many rows one block ranks each row against all others in a single launch; the radix
 * sort takes one launch for every few bits and some before. */
enum { RANKED_ROWS = 1024 };

static __global__ void rank(struct sort job)
{
    __shared__ uint32_t key[RANKED_ROWS];
    uint32_t me = threadIdx.x;
    uint32_t n = (uint32_t)job.count;
    if (me < n)
        key[me] = job.key[me];
    __syncthreads();
    if (me >= n)
        return;
    uint32_t before = 0;
    for (uint32_t i = 0; i < n; i++)
        before += key[i] < key[me] || (key[i] == key[me] && i < me);
    job.key_spare[before] = key[me];
    job.position[before] = me;
}

static __global__ void number(struct sort job)
{
    int64_t k = this_thread();
    if (k < job.count)
        job.position[k] = (uint32_t)k;
}

/* Bits that a key can have: all that `limit` has. */
static int key_bits(uint32_t limit)
{
    return limit == 0 ? 1 : 32 - __builtin_clz(limit);
}

static cudaError_t radix_sort(void *temporary, size_t *temporary_bytes, struct sort *job,
                              cudaStream_t stream)
{
    cub::DoubleBuffer<uint32_t> key(job->key, job->key_spare);
    cub::DoubleBuffer<uint32_t> position(job->position, job->position_spare);
    cudaError_t status =
        cub::DeviceRadixSort::SortPairs(temporary, *temporary_bytes, key, position, (int)job->count,
                                        0, key_bits(job->limit), stream);
    job->key = key.Current();
    job->key_spare = key.Alternate();
    job->position = position.Current();
    job->position_spare = position.Alternate();
    return status;
}

cudaError_t cuda_sort_bytes(int64_t count, size_t *bytes)
{
    *bytes = 0;
    if (count <= RANKED_ROWS)
        return cudaSuccess;
    struct sort job = {};
    job.count = count;
    job.limit = INT32_MAX;
    return radix_sort(NULL, bytes, &job, NULL);
}

static cudaError_t rank_sort(struct sort *job, cudaStream_t stream)
{
    void *arguments[] = {job};
    unsigned threads = (unsigned)(job->count + WARP_THREADS - 1) / WARP_THREADS * WARP_THREADS;
    cudaError_t status =
        cudaLaunchKernel((const void *)rank, dim3(1), dim3(threads), arguments, 0, stream);
    uint32_t *sorted = job->key_spare;
    job->key_spare = job->key;
    job->key = sorted;
    return status;
}

cudaError_t cuda_sort(struct sort *job, cudaStream_t stream)
{
    if (job->count == 0)
        return cudaSuccess;
    if (job->count <= RANKED_ROWS)
        return rank_sort(job, stream);
    cudaError_t status = launch(number, job, job->count, 1, stream);
    if (status != cudaSuccess)
        return status;
    return radix_sort(job->temporary, &job->temporary_bytes, job, stream);
}
