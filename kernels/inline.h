/* inline: how a kernel text is written once: for every element type (names made by FN), for the
 * host and for CUDA (HD), and compiled once for each constant that it is called with
 * (ALWAYS_INLINE). */
#ifndef KERNELS_INLINE_H
#define KERNELS_INLINE_H

#ifdef __CUDACC__
#define HD __host__ __device__
#else
#define HD
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b)

#endif
