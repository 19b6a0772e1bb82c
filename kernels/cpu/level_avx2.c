/* AVX2 and the conversions of F16C. */
#ifdef __x86_64__
#include "kernels/cpu/levels.h"

#include <assert.h>
#include <immintrin.h>
#include <math.h>
#include <string.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,f16c")
#endif

#define LEVEL      level_avx2
#define LEVEL_NAME "avx2"
#define LEVEL_AVX2
#define KERNELS_F16C
#include "kernels/cpu/level.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
