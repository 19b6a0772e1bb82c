#include "kernels/arithmetic.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/walk.cuh"

#include <assert.h>
#include <math.h>

/* What one element type has; NULL for a combine that the type does not have. */
struct kernels {
    void (*scatter[COMBINE_COUNT])(struct scatter);
    void (*scatter_runs[COMBINE_COUNT])(struct runs);
    void (*segments[COMBINE_COUNT])(struct runs);
};

#define TYPE_TEXT "kernels/cuda/type.inc"
#include "kernels/each_type.inc"

/* NULL for a type without arithmetic. A missing one does not compile: its name is not declared. */
static const struct kernels *kernels_of(enum dtype dtype)
{
    switch (dtype) {
#define X(ID, id, ...)                                                                             \
    case DTYPE_##ID:                                                                               \
        return &kernels_##id;
        DTYPE_NUMBERS(X)
        X(BOOL, truth)
#undef X
    case DTYPE_NONE:
    case DTYPE_C64:
    case DTYPE_C128:
    case DTYPE_BYTES:
    case DTYPE_COUNT:
        break;
    }
    return NULL;
}

bool cuda_computes(enum combine combine, enum dtype dtype)
{
    const struct kernels *kernels = kernels_of(dtype);
    return kernels && kernels->scatter[combine];
}

cudaError_t cuda_scatter(enum combine combine, enum dtype dtype, const struct scatter *job,
                         cudaStream_t stream)
{
    assert(cuda_computes(combine, dtype));
    return launch(kernels_of(dtype)->scatter[combine], job, job->count, job->width, stream);
}

cudaError_t cuda_scatter_runs(enum combine combine, enum dtype dtype, const struct runs *job,
                              cudaStream_t stream)
{
    assert(cuda_computes(combine, dtype));
    return launch(kernels_of(dtype)->scatter_runs[combine], job, job->count, job->width, stream);
}

cudaError_t cuda_segments(enum combine combine, enum dtype dtype, const struct runs *job,
                          cudaStream_t stream)
{
    assert(cuda_computes(combine, dtype));
    return launch(kernels_of(dtype)->segments[combine], job, job->count, job->width, stream);
}
