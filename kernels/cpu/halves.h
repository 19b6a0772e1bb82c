/* halves: eight elements of a half type at once, as the floats that they are computed in. Where the
 * level's file says so (LEVEL_AVX2) by the processor's own conversions; the bits are the same. BF16
 * has an instruction only in AVX-512, and that one flushes subnormals. */
#ifndef KERNELS_CPU_HALVES_H
#define KERNELS_CPU_HALVES_H

#include "kernels/arithmetic.h"

enum { EIGHT = 8 };

typedef float floats __attribute__((vector_size(EIGHT * sizeof(float))));

#ifdef LEVEL_AVX2

ALWAYS_INLINE void widen_eight_f16(floats *to, const uint16_t *from)
{
    *to = (floats)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
}

ALWAYS_INLINE void narrow_eight_f16(uint16_t *to, const floats *from)
{
    _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph((__m256)*from, _MM_FROUND_TO_NEAREST_INT));
}

ALWAYS_INLINE void widen_eight_bf16(floats *to, const uint16_t *from)
{
    __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)from));
    *to = (floats)_mm256_slli_epi32(words, 16);
}

/* narrow_bf16, step by step. */
ALWAYS_INLINE void narrow_eight_bf16(uint16_t *to, const floats *from)
{
    __m256i bits = (__m256i)*from;
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd);
    __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    __m256i nan = (__m256i)_mm256_cmp_ps((__m256)*from, (__m256)*from, _CMP_UNORD_Q);
    __m256i words = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
    __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(words, words), 0xD8);
    _mm_storeu_si128((__m128i *)to, _mm256_castsi256_si128(packed));
}

#else

#define EACH(id)                                                                                   \
    ALWAYS_INLINE void widen_eight_##id(floats *to, const uint16_t *from)                          \
    {                                                                                              \
        for (int j = 0; j < EIGHT; j++)                                                            \
            (*to)[j] = widen_##id(from[j]);                                                        \
    }                                                                                              \
    ALWAYS_INLINE void narrow_eight_##id(uint16_t *to, const floats *from)                         \
    {                                                                                              \
        for (int j = 0; j < EIGHT; j++)                                                            \
            to[j] = narrow_##id((*from)[j]);                                                       \
    }
EACH(f16)
EACH(bf16)
#undef EACH

#endif

#endif
