/* Four header values, one a line: Content-Type, Inference-Header-Content-Length, Content-Encoding,
 * Accept. An empty line is an absent header. */
#include "proto/head.h"

#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { HEADERS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *values[HEADERS] = {NULL};
    struct head head;
    struct error error;
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
    if (head_parse(&head, values[0], values[1], values[2], values[3], &error) == ERROR_NONE &&
        (head.body == ENCODING_BINARY) != (head.header_length > 0))
        abort();
    free(text);
    return 0;
}
