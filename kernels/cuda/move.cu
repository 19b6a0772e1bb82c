#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.cuh"

/* A row is moved in the largest units that divide it; buffers are aligned to more. */

template <class Unit> static __global__ void gather(struct move job)
{
    int64_t units = (int64_t)(job.row_bytes / sizeof(Unit));
    struct element e = this_element(units);
    if (e.row >= job.count)
        return;
    uint32_t row = job.row[e.row];
    Unit zero = {};
    ((Unit *)job.out)[e.row * units + e.column] =
        row < job.limit ? ((const Unit *)job.in)[row * units + e.column] : zero;
}

template <class Unit> static __global__ void put(struct move job)
{
    int64_t units = (int64_t)(job.row_bytes / sizeof(Unit));
    struct element e = this_element(units);
    if (e.row >= job.count || job.row[e.row] >= job.limit)
        return;
    ((Unit *)job.out)[job.row[e.row] * units + e.column] =
        ((const Unit *)job.in)[e.row * units + e.column];
}

template <class Unit> static __global__ void put_last(struct move job)
{
    int64_t units = (int64_t)(job.row_bytes / sizeof(Unit));
    struct element e = this_element(units);
    if (e.row >= job.count || job.row[e.row] >= job.limit)
        return;
    uint32_t row = job.row[e.row];
    if (e.row + 1 < job.count && job.row[e.row + 1] == row)
        return;
    ((Unit *)job.out)[row * units + e.column] =
        ((const Unit *)job.in)[job.position[e.row] * units + e.column];
}

static __global__ void disjoin(struct move job)
{
    struct element e = this_element((int64_t)job.row_bytes);
    if (e.row >= job.count || job.row[e.row] >= job.limit)
        return;
    if (!((const uint8_t *)job.in)[e.row * (int64_t)job.row_bytes + e.column])
        return;
    int64_t to = job.row[e.row] * (int64_t)job.row_bytes + e.column;
    atomicOr((uint32_t *)job.out + to / 4, 1u << 8 * (to % 4));
}

template <class Element> static __global__ void fill(struct fill job)
{
    int64_t i = this_thread();
    if (i < job.count)
        ((Element *)job.out)[i] = (Element)job.element;
}

/* Kernels by the exponent of the unit: 1, 2, 4, 8 and 16 bytes. */
typedef void (*move_kernel)(struct move);

static cudaError_t launch_move(const move_kernel kernels[5], const struct move *job,
                               cudaStream_t stream)
{
    if (job->row_bytes == 0)
        return cudaSuccess;
    int exponent = __builtin_ctzll(job->row_bytes | 16);
    return launch(kernels[exponent], job, job->count, (int64_t)(job->row_bytes >> exponent),
                  stream);
}

#define BY_UNIT(kernel)                                                                            \
    {                                                                                              \
        kernel<uint8_t>, kernel<uint16_t>, kernel<uint32_t>, kernel<uint64_t>, kernel<uint4>       \
    }

cudaError_t cuda_gather(const struct move *job, cudaStream_t stream)
{
    static const move_kernel kernels[5] = BY_UNIT(gather);
    return launch_move(kernels, job, stream);
}

cudaError_t cuda_put(const struct move *job, cudaStream_t stream)
{
    static const move_kernel kernels[5] = BY_UNIT(put);
    return launch_move(kernels, job, stream);
}

cudaError_t cuda_put_last(const struct move *job, cudaStream_t stream)
{
    static const move_kernel kernels[5] = BY_UNIT(put_last);
    return launch_move(kernels, job, stream);
}

cudaError_t cuda_or(const struct move *job, cudaStream_t stream)
{
    return launch(disjoin, job, job->count, (int64_t)job->row_bytes, stream);
}

cudaError_t cuda_fill(const struct fill *job, cudaStream_t stream)
{
    switch (job->element_bytes) {
    case 1:
        return launch(fill<uint8_t>, job, job->count, 1, stream);
    case 2:
        return launch(fill<uint16_t>, job, job->count, 1, stream);
    case 4:
        return launch(fill<uint32_t>, job, job->count, 1, stream);
    default:
        return launch(fill<uint64_t>, job, job->count, 1, stream);
    }
}
