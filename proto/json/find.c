#include "proto/json/find.h"

#include <stdbool.h>
#include <stddef.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Brackets differ from braces in one bit. */
enum { BRACE_BIT = 0x20 };

static bool is_bracket(char c)
{
    return (c | BRACE_BIT) == '{' || (c | BRACE_BIT) == '}' || c == '"' || (unsigned char)c >= 0x80;
}

static bool is_special(char c)
{
    return c == '"' || c == '\\' || (unsigned char)c < 0x20 || (unsigned char)c >= 0x80;
}

#ifdef __SSE2__

/* Masks with a bit for each of sixteen bytes. Bytes that are not ASCII have their highest bit set,
 * and movemask collects the highest bits. */
static inline int bracket_mask(__m128i bytes)
{
    __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(BRACE_BIT));
    __m128i found = _mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')),
                                 _mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    return _mm_movemask_epi8(_mm_or_si128(found, bytes));
}

static inline int special_mask(__m128i bytes)
{
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
    __m128i found = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                 _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(found, control), bytes));
}

#define FIND_BY_SIXTEEN(mask_of)                                                                   \
    for (; end - at >= 16; at += 16) {                                                             \
        int mask = mask_of(_mm_loadu_si128((const __m128i *)at));                                  \
        if (mask)                                                                                  \
            return at + __builtin_ctz((unsigned)mask);                                             \
    }
#else
#define FIND_BY_SIXTEEN(mask_of)
#endif

const char *json_find_bracket(const char *at, const char *end)
{
    FIND_BY_SIXTEEN(bracket_mask)
    while (at != end && !is_bracket(*at))
        at++;
    return at;
}

const char *json_find_special(const char *at, const char *end)
{
    FIND_BY_SIXTEEN(special_mask)
    while (at != end && !is_special(*at))
        at++;
    return at;
}

/* Blocks whose count fits a byte, so that the compiler counts in bytes of a vector. */
int64_t json_count_commas(const char *at, const char *end)
{
    enum { BLOCK = 240 };
    int64_t commas = 0;

    for (; end - at >= BLOCK; at += BLOCK) {
        uint8_t block = 0;
        for (int i = 0; i < BLOCK; i++)
            block = (uint8_t)(block + (at[i] == ','));
        commas += block;
    }
    for (; at != end; at++)
        commas += *at == ',';
    return commas;
}
