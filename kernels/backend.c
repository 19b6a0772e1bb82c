#include "kernels/backend.h"

/* kernels/cuda/run.c, linked in or not: without it the name stands for nothing, and a program that
 * has no CUDA in it needs no other objects than one that has. */
extern const struct backend backend_of_cuda __attribute__((weak));

const struct backend *backend_cuda(void)
{
    return &backend_of_cuda;
}
