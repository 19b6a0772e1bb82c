/* arithmetic: the elements as machines compute them. For each type `id` of DTYPE_NUMBERS:
 *
 *   storage_id, arithmetic_id   what it is in memory and what it is computed in
 *   widen_id, narrow_id         from one to the other; narrowing rounds to nearest even
 *   multiply_id, divide_id      integers wrap; the divisor is not an integer zero
 *   less_id                     false when either is NaN
 *   one_id                      stored
 *   highest_id, lowest_id       the finite ends of the type, stored
 *
 * The same text on every device: no contraction, no flush to zero. */
#ifndef KERNELS_ARITHMETIC_H
#define KERNELS_ARITHMETIC_H

#include "kernels/dtype.h"
#include "kernels/inline.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

#define X(ID, id, T, A, ...)                                                                       \
    typedef T storage_##id;                                                                        \
    typedef A arithmetic_##id;
DTYPE_NUMBERS(X)
#undef X

#define PLAIN(id)                                                                                  \
    ALWAYS_INLINE HD arithmetic_##id widen_##id(storage_##id x)                                    \
    {                                                                                              \
        return (arithmetic_##id)x;                                                                 \
    }                                                                                              \
    ALWAYS_INLINE HD storage_##id narrow_##id(arithmetic_##id x)                                   \
    {                                                                                              \
        return (storage_##id)x;                                                                    \
    }                                                                                              \
    ALWAYS_INLINE HD bool less_##id(storage_##id a, storage_##id b)                                \
    {                                                                                              \
        return a < b;                                                                              \
    }

#define ENDS(id, ONE, HIGHEST, LOWEST)                                                             \
    ALWAYS_INLINE HD storage_##id one_##id(void)                                                   \
    {                                                                                              \
        return ONE;                                                                                \
    }                                                                                              \
    ALWAYS_INLINE HD storage_##id highest_##id(void)                                               \
    {                                                                                              \
        return HIGHEST;                                                                            \
    }                                                                                              \
    ALWAYS_INLINE HD storage_##id lowest_##id(void)                                                \
    {                                                                                              \
        return LOWEST;                                                                             \
    }

/* 1u keeps 16-bit factors from becoming ints, whose product may overflow. */
#define INTEGER(id)                                                                                \
    PLAIN(id)                                                                                      \
    ALWAYS_INLINE HD arithmetic_##id multiply_##id(arithmetic_##id a, arithmetic_##id b)           \
    {                                                                                              \
        return (arithmetic_##id)(1u * a * b);                                                      \
    }

/* The smallest number divided by -1 wraps; the machine would trap. */
#define X(ID, id, ...)                                                                             \
    INTEGER(id)                                                                                    \
    ENDS(id, 1, ID##_MAX, ID##_MIN)                                                                \
    ALWAYS_INLINE HD storage_##id divide_##id(storage_##id a, storage_##id b)                      \
    {                                                                                              \
        return (storage_##id)(b == -1 ? (storage_##id)(0u - (arithmetic_##id)a) : a / b);          \
    }
DTYPE_SIGNED(X)
#undef X

#define X(ID, id, ...)                                                                             \
    INTEGER(id)                                                                                    \
    ENDS(id, 1, ID##_MAX, 0)                                                                       \
    ALWAYS_INLINE HD storage_##id divide_##id(storage_##id a, storage_##id b)                      \
    {                                                                                              \
        return (storage_##id)(a / b);                                                              \
    }
DTYPE_UNSIGNED(X)
#undef X

#define REAL(id)                                                                                   \
    ALWAYS_INLINE HD arithmetic_##id multiply_##id(arithmetic_##id a, arithmetic_##id b)           \
    {                                                                                              \
        return a * b;                                                                              \
    }                                                                                              \
    ALWAYS_INLINE HD storage_##id divide_##id(storage_##id a, storage_##id b)                      \
    {                                                                                              \
        return narrow_##id(widen_##id(a) / widen_##id(b));                                         \
    }

#define X(ID, id, ...) PLAIN(id) REAL(id)
DTYPE_FLOATS(X)
#undef X
ENDS(f32, 1, FLT_MAX, -FLT_MAX)
ENDS(f64, 1, DBL_MAX, -DBL_MAX)

/* -------------------------------------------------------------------------------- half types */

ALWAYS_INLINE HD uint32_t float_to_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

ALWAYS_INLINE HD float float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

#if defined(KERNELS_F16C) /* the file that includes this may use the instructions */

ALWAYS_INLINE float widen_f16(uint16_t h)
{
    return _cvtsh_ss(h);
}

ALWAYS_INLINE uint16_t narrow_f16(float f)
{
    return _cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT);
}

#elif defined(__aarch64__)

ALWAYS_INLINE float widen_f16(uint16_t h)
{
    __fp16 half;
    memcpy(&half, &h, sizeof half);
    return half;
}

ALWAYS_INLINE uint16_t narrow_f16(float f)
{
    __fp16 half = (__fp16)f;
    uint16_t h;
    memcpy(&h, &half, sizeof h);
    return h;
}

#else

/* The exponent's bias moves by a multiplication, which also makes subnormals normal. */
ALWAYS_INLINE HD float widen_f16(uint16_t h)
{
    uint32_t rest = (uint32_t)(h & 0x7FFF) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t finite = float_to_bits(float_of_bits(rest) * 0x1p112f);
    return float_of_bits(sign | (rest >= 0x7C00u << 13 ? rest | 0x7F800000 : finite));
}

/* Below 2^-14 the sum with 0.5 puts the last bit of the half type in place, and rounds there. A
 * carry out of the mantissa is right: it reaches the next exponent, and infinity in the end. */
ALWAYS_INLINE HD uint16_t narrow_f16(float f)
{
    uint32_t bits = float_to_bits(f), sign = bits & 0x80000000, rest = bits ^ sign;
    uint32_t small = float_to_bits(float_of_bits(rest) + 0.5f) - 0x3F000000;
    uint32_t normal = (rest - 0x38000000 + 0xFFF + (rest >> 13 & 1)) >> 13;
    uint32_t special = rest > 0x7F800000 ? 0x7E00 : 0x7C00;
    uint32_t half = rest < 0x38800000 ? small : rest < 0x47800000 ? normal : special;
    return (uint16_t)(sign >> 16 | half);
}

#endif

ALWAYS_INLINE HD float widen_bf16(uint16_t h)
{
    return float_of_bits((uint32_t)h << 16);
}

/* Rounding must not carry a NaN into the sign. */
ALWAYS_INLINE HD uint16_t narrow_bf16(float f)
{
    uint32_t bits = float_to_bits(f);
    bool nan = (bits & 0x7FFFFFFF) > 0x7F800000;
    return (uint16_t)(nan ? bits >> 16 | 0x40 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* Sign and magnitude as the integer that orders them; both zeros are 0. */
ALWAYS_INLINE HD int half_order(uint16_t h)
{
    return h & 0x8000 ? -(h & 0x7FFF) : h;
}

#define HALF(id, INFINITE)                                                                         \
    ALWAYS_INLINE HD bool less_##id(uint16_t a, uint16_t b)                                        \
    {                                                                                              \
        bool numbers = (a & 0x7FFF) <= (INFINITE) && (b & 0x7FFF) <= (INFINITE);                   \
        return numbers && half_order(a) < half_order(b);                                           \
    }                                                                                              \
    REAL(id)
HALF(f16, 0x7C00)
HALF(bf16, 0x7F80)
ENDS(f16, 0x3C00, 0x7BFF, 0xFBFF)
ENDS(bf16, 0x3F80, 0x7F7F, 0xFF7F)

/* BOOL under a name that is no macro of stdbool.h: any byte but 0 is true. */
typedef uint8_t storage_truth;
typedef uint8_t arithmetic_truth;
PLAIN(truth)

#undef PLAIN
#undef ENDS
#undef INTEGER
#undef REAL
#undef HALF

#endif
