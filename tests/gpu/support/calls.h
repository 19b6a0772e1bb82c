/* calls: the CUDA runtime's calls, counted and made to fail. The functions of that name here stand
 * before those of the shared runtime library, and call them. */
#ifndef TESTS_GPU_SUPPORT_CALLS_H
#define TESTS_GPU_SUPPORT_CALLS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

enum call {
    CALL_MALLOC,     /* cudaMalloc */
    CALL_HOST_ALLOC, /* cudaHostAlloc */
    CALL_LAUNCH,     /* kernels, whoever launches them */
    CALL_UPLOAD,     /* cudaMemcpyAsync to the device */
    CALL_DOWNLOAD,   /* and from it */
    CALL_FILL,       /* cudaMemsetAsync */
    CALL_WAIT,       /* cudaStreamSynchronize */
    CALL_COUNT
};

/* Counts start at 0 and nothing fails any more. */
void calls_reset(void);

int calls_counted(enum call call);

/* What they were to copy or fill together. */
size_t calls_bytes(enum call call);

/* The n-th call of that kind from now on, counted from 0, fails with `status`. */
void calls_fail(enum call call, int n, cudaError_t status);

/* As after an illegal access: from now on all calls that are counted fail with `status`, and
 * cudaStreamQuery says so too. */
void calls_lose_context(cudaError_t status);

#endif
