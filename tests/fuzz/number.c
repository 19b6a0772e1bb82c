/* A list of JSON numbers; the first byte chooses the element type. What was read is what strtod and
 * its like read, and it comes back to the same bits when it is printed. */
#include "proto/number/number.h"

#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 256, ELEMENT_BYTES = 8, TEXT_MAX = ELEMENTS_MAX * 40, DIGITS_MAX = 512 };

static const enum dtype dtypes[] = {
#define X(ID, ...) DTYPE_##ID,
    DTYPE_NUMBERS(X)
#undef X
};

/* The number at `text` by the C library, which has the same grammar once JSON's has been met. */
static bool same_as_libc(enum dtype dtype, const char *text, const char *end, const void *element)
{
    char copy[DIGITS_MAX + 1];
    size_t size = (size_t)(end - text);
    bool integer = memchr(text, '.', size) == NULL && memchr(text, 'e', size) == NULL &&
                   memchr(text, 'E', size) == NULL;
    float single;
    double twofold;

    if (size > DIGITS_MAX)
        return true;
    memcpy(copy, text, size);
    copy[size] = '\0';
    switch (dtype) {
    case DTYPE_FP32:
        single = strtof(copy, NULL);
        return memcmp(element, &single, sizeof(single)) == 0;
    case DTYPE_FP64:
        twofold = strtod(copy, NULL);
        return memcmp(element, &twofold, sizeof(twofold)) == 0;
    case DTYPE_INT64:
        return !integer || *(const int64_t *)element == strtoll(copy, NULL, 10);
    case DTYPE_UINT64:
        return !integer || copy[0] == '-' || *(const uint64_t *)element == strtoull(copy, NULL, 10);
    default:
        return true;
    }
}

static void check_values(enum dtype dtype, const char *text, const char *end, const char *elements,
                         int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const char *stop = number_end(text, end);

        FUZZ_CHECK(stop);
        FUZZ_CHECK(same_as_libc(dtype, text, stop, elements + i * (int64_t)dtype_bytes(dtype)));
        text = memchr(stop, ',', (size_t)(end - stop));
        if (!text) {
            FUZZ_CHECK(i + 1 == count);
            return;
        }
        for (text++; text < end && strchr(" \t\r\n", *text); text++)
            ;
    }
}

static void check_print(enum dtype dtype, const void *elements, int64_t count)
{
    char text[TEXT_MAX], again[ELEMENTS_MAX * ELEMENT_BYTES], *out = text;
    struct number_run run;

    FUZZ_CHECK(count * (int64_t)number_text_max(dtype) <= TEXT_MAX);
    FUZZ_CHECK(number_print(dtype, elements, count, &out) == count);
    FUZZ_CHECK(out - text <= count * (int64_t)number_text_max(dtype));
    run = number_read(dtype, text, out - 1, again, count);
    FUZZ_CHECK(run.count == count && run.stop == NUMBER_END && run.at == out - 1);
    FUZZ_CHECK(memcmp(again, elements, (size_t)count * dtype_bytes(dtype)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char elements[ELEMENTS_MAX * ELEMENT_BYTES] __attribute__((aligned(8)));
    struct number_run run;

    if (size == 0)
        return 0;
    enum dtype dtype = dtypes[data[0] % (sizeof(dtypes) / sizeof(dtypes[0]))];
    /* Memory of its own, so that a sanitizer sees a byte too far. */
    char *text = malloc(size - 1 ? size - 1 : 1), *end = text + size - 1;
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    run = number_read(dtype, text, end, elements, ELEMENTS_MAX);
    FUZZ_CHECK(run.at >= text && run.at <= end);
    FUZZ_CHECK(run.count >= 0 && run.count <= ELEMENTS_MAX);
    check_values(dtype, text, end, elements, run.count);
    if (run.count > 0)
        check_print(dtype, elements, run.count);
    free(text);
    return 0;
}
