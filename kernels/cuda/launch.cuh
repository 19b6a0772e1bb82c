/* launch: one thread for each element of `rows` times `columns`. */
#ifndef KERNELS_CUDA_LAUNCH_CUH
#define KERNELS_CUDA_LAUNCH_CUH

#include <cuda_runtime.h>
#include <stdint.h>

enum { BLOCK_THREADS = 256, WARP_THREADS = 32 };

template <class Job>
static cudaError_t launch(void (*kernel)(Job), const Job *job, int64_t rows, int64_t columns,
                          cudaStream_t stream)
{
    int64_t threads = rows * columns;
    if (threads == 0)
        return cudaSuccess;
    Job copy = *job;
    void *arguments[] = {&copy};
    /* Few threads take a small block: whole warps, because kernels vote and shuffle. */
    unsigned block = threads < BLOCK_THREADS
                         ? (unsigned)(threads + WARP_THREADS - 1) / WARP_THREADS * WARP_THREADS
                         : BLOCK_THREADS;
    dim3 grid((unsigned)((threads + block - 1) / block));
    return cudaLaunchKernel((const void *)kernel, grid, dim3(block), arguments, 0, stream);
}

struct element {
    int64_t row, column;
};

static __device__ __forceinline__ int64_t this_thread()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* A division of 64 bits costs tens of instructions: most jobs do with 32. */
static __device__ __forceinline__ struct element this_element(int64_t columns)
{
    int64_t i = this_thread();
    if (columns == 1)
        return {i, 0};
    if (((uint64_t)i | (uint64_t)columns) >> 32 == 0) {
        uint32_t row = (uint32_t)i / (uint32_t)columns;
        return {row, (uint32_t)i - row * (uint32_t)columns};
    }
    return {i / columns, i % columns};
}

#endif
