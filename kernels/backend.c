#include "kernels/backend.h"

/* Weak: NULL unless kernels/cuda/run.c is linked in. */
extern const struct backend backend_of_cuda __attribute__((weak));

const struct backend *backend_cuda(void)
{
    return &backend_of_cuda;
}
