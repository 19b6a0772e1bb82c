/* Four header values, one a line: Content-Type, Inference-Header-Content-Length, Content-Encoding,
 * Accept. An empty line is an absent header. */
#include "proto/request/head.h"

#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { HEADERS = 4 };

static void check(const char *const *values)
{
    struct head head;
    struct error error;

    if (head_parse(&head, values[0], values[1], values[2], values[3], &error) != ERROR_NONE) {
        fuzz_error(&error);
        return;
    }
    FUZZ_CHECK((head.body == ENCODING_BINARY) == (head.header_length > 0));
    FUZZ_CHECK(head.accepted <= ENCODING_COUNT);
    FUZZ_CHECK(head.safetensors_type != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *values[HEADERS] = {NULL};
    char *text = malloc(size + 1), *line = text;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (int i = 0; i < HEADERS && line; i++) {
        char *end = strchr(line, '\n');

        if (end)
            *end = '\0';
        values[i] = *line ? line : NULL;
        line = end ? end + 1 : NULL;
    }
    check(values);
    free(text);
    return 0;
}
