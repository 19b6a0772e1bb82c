/* Floats, bit for bit; the first byte chooses the type. What is printed comes back to the same
 * bits, by our reader and by the C library's, and no text with fewer digits would. */
#include "proto/number/number.h"

#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 64, TEXT_BYTES = ELEMENTS_MAX * 40, ELEMENT_TEXT_BYTES = 64 };

/* Whether the C library reads the text as this element. The half types are ours alone. */
static bool reads_as(enum dtype dtype, const char *text, const void *element)
{
    float single = strtof(text, NULL);
    double twofold = strtod(text, NULL);

    if (dtype == DTYPE_FP32)
        return memcmp(&single, element, sizeof(single)) == 0;
    if (dtype == DTYPE_FP64)
        return memcmp(&twofold, element, sizeof(twofold)) == 0;
    return true;
}

/* Without zeros in front and behind. */
static int digits(const char *text)
{
    int count = 0, zeros = 0;

    for (; *text && *text != 'e'; text++) {
        if (!isdigit((unsigned char)*text) || (*text == '0' && count == 0))
            continue;
        zeros = *text == '0' ? zeros + 1 : 0;
        count++;
    }
    return count - zeros;
}

/* A whole number without an exponent: fewer digits would be as many zeros. */
static bool is_whole(const char *text)
{
    const char *point = strchr(text, '.');

    return point && strcmp(point, ".0") == 0;
}

/* The nearest text with one digit less is another number, or this one is longer than it must be. */
static bool is_shortest(enum dtype dtype, const char *text, const void *element)
{
    char shorter[ELEMENT_TEXT_BYTES];
    int count = digits(text);
    float single;
    double value;

    if (count < 2 || is_whole(text) || (dtype != DTYPE_FP32 && dtype != DTYPE_FP64))
        return true;
    memcpy(&single, element, sizeof(single));
    if (dtype == DTYPE_FP64)
        memcpy(&value, element, sizeof(value));
    else
        value = (double)single;
    snprintf(shorter, sizeof(shorter), "%.*e", count - 2, value);
    return !reads_as(dtype, shorter, element);
}

static void check_element(enum dtype dtype, const char *text, const void *element)
{
    uint8_t again[sizeof(double)] __attribute__((aligned(8)));
    const char *end = text + strlen(text);
    struct number_run run = number_read(dtype, text, end, again, 1);

    FUZZ_CHECK(run.count == 1 && run.stop == NUMBER_END && run.at == end);
    FUZZ_CHECK(memcmp(again, element, dtype_bytes(dtype)) == 0);
    FUZZ_CHECK(strpbrk(text, ".e"));
    FUZZ_CHECK(reads_as(dtype, text, element));
    FUZZ_CHECK(is_shortest(dtype, text, element));
}

static void check(enum dtype dtype, const uint8_t *elements, int64_t count)
{
    char text[TEXT_BYTES], *out = text, *at = text;
    int64_t printed = number_print(dtype, elements, count, &out);

    FUZZ_CHECK(printed >= 0 && printed <= count);
    FUZZ_CHECK(out - text <= count * (int64_t)number_text_max(dtype));
    for (int64_t i = 0; i < printed; i++) {
        char *comma = memchr(at, ',', (size_t)(out - at));

        FUZZ_CHECK(comma);
        *comma = '\0';
        check_element(dtype, at, elements + (size_t)i * dtype_bytes(dtype));
        at = comma + 1;
    }
    FUZZ_CHECK(at == out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum dtype dtypes[] = {DTYPE_FP32, DTYPE_FP64, DTYPE_FP16, DTYPE_BF16};
    uint8_t elements[ELEMENTS_MAX * sizeof(double)] __attribute__((aligned(8)));

    if (size == 0)
        return 0;
    enum dtype dtype = dtypes[data[0] % 4];
    size_t bytes = size - 1 < sizeof(elements) ? size - 1 : sizeof(elements);
    int64_t count = (int64_t)(bytes / dtype_bytes(dtype));
    memcpy(elements, data + 1, bytes);
    check(dtype, elements, count < ELEMENTS_MAX ? count : ELEMENTS_MAX);
    return 0;
}
