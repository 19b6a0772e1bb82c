#include "tests/gpu/support/calls.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>

#define VISIBLE __attribute__((visibility("default")))

static atomic_int counted[CALL_COUNT];
static atomic_size_t transferred[CALL_COUNT];
static int failing[CALL_COUNT];
static cudaError_t failure[CALL_COUNT];
static cudaError_t lost;
/* A runtime may make one call by another: only the outermost counts. */
static _Thread_local bool inside;

void calls_reset(void)
{
    lost = cudaSuccess;
    for (int i = 0; i < CALL_COUNT; i++) {
        counted[i] = 0;
        transferred[i] = 0;
        failing[i] = -1;
        failure[i] = cudaSuccess;
    }
}

int calls_counted(enum call call)
{
    return counted[call];
}

size_t calls_bytes(enum call call)
{
    return transferred[call];
}

void calls_fail(enum call call, int n, cudaError_t status)
{
    failing[call] = counted[call] + n;
    failure[call] = status;
}

void calls_lose_context(cudaError_t status)
{
    lost = status;
}

/* Not in a header for C: what compiled kernel launches call. */
cudaError_t __cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);

/* What the call has to answer instead of doing anything; cudaSuccess: nothing. */
static cudaError_t verdict(enum call call, size_t bytes)
{
    transferred[call] += bytes;
    int number = counted[call]++;
    if (lost != cudaSuccess)
        return lost;
    return failure[call] != cudaSuccess && number == failing[call] ? failure[call] : cudaSuccess;
}

/* Defines RETURN NAME(PARAMETERS) over the real one. */
#define STAND_BEFORE(name, call, size, parameters, arguments)                                      \
    VISIBLE cudaError_t name parameters                                                            \
    {                                                                                              \
        cudaError_t(*real) parameters;                                                             \
        cudaError_t status = inside ? cudaSuccess : verdict(call, size);                           \
        bool outermost = !inside;                                                                  \
        if (status != cudaSuccess)                                                                 \
            return status;                                                                         \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                 \
        inside = true;                                                                             \
        status = real arguments;                                                                   \
        inside = !outermost;                                                                       \
        return status;                                                                             \
    }

STAND_BEFORE(cudaMalloc, CALL_MALLOC, bytes, (void **data, size_t bytes), (data, bytes))
STAND_BEFORE(cudaHostAlloc, CALL_HOST_ALLOC, bytes, (void **data, size_t bytes, unsigned flags),
             (data, bytes, flags))
STAND_BEFORE(cudaLaunchKernel, CALL_LAUNCH, 0,
             (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
              cudaStream_t stream),
             (kernel, grid, block, arguments, shared_bytes, stream))
STAND_BEFORE(__cudaLaunchKernel, CALL_LAUNCH, 0,
             (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
              cudaStream_t stream),
             (kernel, grid, block, arguments, shared_bytes, stream))
STAND_BEFORE(cudaLaunchKernelExC, CALL_LAUNCH, 0,
             (const cudaLaunchConfig_t *config, const void *kernel, void **arguments),
             (config, kernel, arguments))
STAND_BEFORE(cudaMemcpyAsync, (kind == cudaMemcpyHostToDevice ? CALL_UPLOAD : CALL_DOWNLOAD), bytes,
             (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
              cudaStream_t stream),
             (to, from, bytes, kind, stream))
STAND_BEFORE(cudaMemsetAsync, CALL_FILL, bytes,
             (void *data, int value, size_t bytes, cudaStream_t stream),
             (data, value, bytes, stream))
STAND_BEFORE(cudaStreamSynchronize, CALL_WAIT, 0, (cudaStream_t stream), (stream))

VISIBLE cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    cudaError_t (*real)(cudaStream_t);
    if (lost != cudaSuccess)
        return lost;
    *(void **)&real = dlsym(RTLD_NEXT, "cudaStreamQuery");
    return real(stream);
}
