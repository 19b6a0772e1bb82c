/* tensors: small tensors written down in a test. */
#ifndef TESTS_SUPPORT_KERNELS_TENSORS_H
#define TESTS_SUPPORT_KERNELS_TENSORS_H

#include "kernels/tensor.h"

/* TENSOR(FP32, FLOATS(1, 2, 3, 4), 2, 2): elements, then dimensions; none for a scalar. */
#define TENSOR(ID, elements, ...)                                                                  \
    ((struct tensor){.dtype = DTYPE_##ID,                                                          \
                     .rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                   \
                     .shape = {__VA_ARGS__},                                                       \
                     .data = elements})

#define FLOATS(...)  ((float[]){__VA_ARGS__})
#define DOUBLES(...) ((double[]){__VA_ARGS__})
#define INTS(...)    ((int32_t[]){__VA_ARGS__})
#define LONGS(...)   ((int64_t[]){__VA_ARGS__})

/* A BYTES element of a string literal. */
#define SPAN(text) ((struct span){text, sizeof(text) - 1})

/* For cmocka programs: the tensor has these dimensions, at least one. */
#define EXPECT_SHAPE(t, ...)                                                                       \
    do {                                                                                           \
        const int64_t expected[] = {__VA_ARGS__};                                                  \
        assert_int_equal((t).rank, sizeof expected / sizeof expected[0]);                          \
        assert_memory_equal((t).shape, expected, sizeof expected);                                 \
    } while (0)

#endif
