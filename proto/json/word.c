#include "proto/json/word.h"

#include <string.h>

enum word { WORD_FALSE, WORD_TRUE, WORD_NAN, WORD_INFINITY, WORD_MINUS_INFINITY, WORD_COUNT };

static const struct spelling {
    const char *text;
    dtype_set dtypes;
    enum word word;
    bool bare;
} spellings[] = {
    {"true", DTYPE_BIT(BOOL), WORD_TRUE, false},
    {"false", DTYPE_BIT(BOOL), WORD_FALSE, false},
    {"NaN", DTYPES_FLOATS, WORD_NAN, true},
    {"Infinity", DTYPES_FLOATS, WORD_INFINITY, true},
    {"-Infinity", DTYPES_FLOATS, WORD_MINUS_INFINITY, true},
    {"\"NaN\"", DTYPES_FLOATS, WORD_NAN, false},
    {"\"Infinity\"", DTYPES_FLOATS, WORD_INFINITY, false},
    {"\"-Infinity\"", DTYPES_FLOATS, WORD_MINUS_INFINITY, false},
};

/* The bits of NaN, Infinity and -Infinity. */
#define WORDS_FP16 0x7E00, 0x7C00, 0xFC00
#define WORDS_BF16 0x7FC0, 0x7F80, 0xFF80
#define WORDS_FP32 0x7FC00000, 0x7F800000, 0xFF800000
#define WORDS_FP64 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000

/* The bits of words, in the lowest bytes. */
static const uint64_t word_bits[DTYPE_COUNT][WORD_COUNT] = {
#define X(ID, ...) [DTYPE_##ID] = {[WORD_NAN] = WORDS_##ID},
    [DTYPE_BOOL] = {0, 1}, DTYPE_HALVES(X) DTYPE_FLOATS(X)
#undef X
};

const char *json_word_read(enum dtype dtype, const char *text, const char *end, void *element,
                           bool *bare)
{
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        const struct spelling *s = &spellings[i];
        size_t size = strlen(s->text);
        if (!(s->dtypes >> dtype & 1) || (size_t)(end - text) < size ||
            memcmp(text, s->text, size) != 0)
            continue;
        memcpy(element, &word_bits[dtype][s->word], dtype_bytes(dtype));
        *bare |= s->bare;
        return text + size;
    }
    return NULL;
}

const char *json_word_text(enum dtype dtype, const void *element, enum nonfinite nonfinite)
{
    static const char *const tokens[] = {"NaN", "Infinity", "-Infinity"};
    static const char *const strings[] = {"\"NaN\"", "\"Infinity\"", "\"-Infinity\""};
    uint64_t bits = 0;

    memcpy(&bits, element, dtype_bytes(dtype));
    int which = bits == word_bits[dtype][WORD_INFINITY]         ? 1
                : bits == word_bits[dtype][WORD_MINUS_INFINITY] ? 2
                                                                : 0;
    if (nonfinite == NONFINITE_NULL)
        return "null";
    return nonfinite == NONFINITE_STRING ? strings[which] : tokens[which];
}
