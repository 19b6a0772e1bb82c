/* A list of elements read in slices, as several threads do, against the same read at once. The
 * first byte chooses the type, the second how far apart the cuts are. */
#include "proto/json/slices.h"
#include "proto/json/find.h"

#include "tests/fuzz/fuzz.h"
#include "tests/support/proto/test_memory.h"

#include <stdlib.h>
#include <string.h>

/* As json_slices_cut does, but after fewer bytes. */
static int64_t cut(struct json_slices *s, const char *text, const char *end, size_t step)
{
    int64_t elements = 0;

    s->count = 0;
    for (bool last = false; !last;) {
        const char *comma = NULL;
        if ((size_t)(end - text) > step && s->count < JSON_SLICES_MAX - 1)
            comma = memchr(text + step, ',', (size_t)(end - text) - step);
        last = !comma;
        int64_t count = json_count_commas(text, last ? end : comma) + 1;
        s->slices[s->count++] = (struct json_slice){
            .begin = text, .end = last ? end : comma, .first = elements, .count = count};
        elements += count;
        text = last ? end : comma + 1;
    }
    return elements;
}

static void check(enum dtype dtype, const char *text, const char *end, size_t step)
{
    struct test_memory memory;
    struct json_slices slices;
    struct json_elements in_slices = {.dtype = dtype}, at_once = {.dtype = dtype};
    int64_t count = cut(&slices, text, end, step);
    size_t size = (size_t)count * dtype_bytes(dtype);

    test_memory_init(&memory);
    char *a = memory.memory.get(&memory.memory, size), *b = memory.memory.get(&memory.memory, size);
    bool read = json_slices_read(&slices, &in_slices, a, &memory.work);
    while (text < end && strchr(" \t\r\n", *text))
        text++;
    struct number_run run = json_elements_read(&at_once, text, end, b, count);
    bool whole = run.stop == NUMBER_END && run.at == end;
    FUZZ_CHECK(read == whole);
    if (read) {
        FUZZ_CHECK(run.count == count);
        FUZZ_CHECK(memcmp(a, b, size) == 0);
        FUZZ_CHECK(in_slices.bare_tokens == at_once.bare_tokens);
    }
    test_memory_clear(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum dtype dtypes[] = {DTYPE_BOOL,
#define X(ID, ...) DTYPE_##ID,
                                        DTYPE_NUMBERS(X)
#undef X
    };

    if (size < 3 || memchr(data, '\0', size))
        return 0;
    /* Memory of its own, so that a sanitizer sees a byte too far. */
    char *text = malloc(size - 2);
    if (!text)
        return 0;
    memcpy(text, data + 2, size - 2);
    check(dtypes[data[0] % (sizeof(dtypes) / sizeof(dtypes[0]))], text, text + size - 2, data[1]);
    free(text);
    return 0;
}
