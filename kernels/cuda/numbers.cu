#include "kernels/arithmetic.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/walk.cuh"

#include <assert.h>
#include <math.h>

/* In the order of enum combine. */
#define SCATTER_COMBINES(X) X(ADD) X(SUB) X(MUL) X(DIV) X(MIN) X(MAX)

enum { SCATTER_COMBINE_COUNT = COMBINE_MAX - COMBINE_ADD + 1 };

/* What one element type has. */
struct kernels {
    void (*scatter[SCATTER_COMBINE_COUNT])(struct scatter);
    void (*scatter_runs[SCATTER_COMBINE_COUNT])(struct runs);
    void (*segments)(struct runs);
};

#define FN(name) JOIN(name, ID)
#define T        JOIN(storage, ID)
#define A        JOIN(arithmetic, ID)

#define ID i8
#include "kernels/cuda/numbers.inc"
#define ID i16
#include "kernels/cuda/numbers.inc"
#define ID i32
#include "kernels/cuda/numbers.inc"
#define ID i64
#include "kernels/cuda/numbers.inc"
#define ID u8
#include "kernels/cuda/numbers.inc"
#define ID u16
#include "kernels/cuda/numbers.inc"
#define ID u32
#include "kernels/cuda/numbers.inc"
#define ID u64
#include "kernels/cuda/numbers.inc"
#define ID f16
#include "kernels/cuda/numbers.inc"
#define ID bf16
#include "kernels/cuda/numbers.inc"
#define ID f32
#include "kernels/cuda/numbers.inc"
#define ID f64
#include "kernels/cuda/numbers.inc"

/* A missing type does not compile: its name is not declared. */
static const struct kernels *kernels_of(enum dtype dtype)
{
    switch (dtype) {
#define X(ID, id, ...)                                                                             \
    case DTYPE_##ID:                                                                               \
        return &kernels_##id;
        DTYPE_NUMBERS(X)
#undef X
    default:
        assert(!"a type that has arithmetic");
        return NULL;
    }
}

cudaError_t cuda_scatter(enum combine combine, enum dtype dtype, const struct scatter *job,
                         cudaStream_t stream)
{
    return launch(kernels_of(dtype)->scatter[combine - COMBINE_ADD], job, job->count, job->width,
                  stream);
}

cudaError_t cuda_scatter_runs(enum combine combine, enum dtype dtype, const struct runs *job,
                              cudaStream_t stream)
{
    return launch(kernels_of(dtype)->scatter_runs[combine - COMBINE_ADD], job, job->count,
                  job->width, stream);
}

cudaError_t cuda_segments(enum dtype dtype, const struct runs *job, cudaStream_t stream)
{
    return launch(kernels_of(dtype)->segments, job, job->count, job->width, stream);
}
