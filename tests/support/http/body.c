#include "tests/support/http/body.h"

#include "tests/support/proto/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool body_binary(struct body *b, const struct part *parts, int count, const char *more)
{
    char *end = quote(more);
    size_t tail = 0;
    FILE *stream;

    *b = (struct body){0};
    stream = open_memstream(&b->data, &b->size);
    if (stream == NULL) {
        free(end);
        return false;
    }
    fputs("{\"inputs\":[", stream);
    for (int i = 0; i < count; i++) {
        fprintf(stream,
                "%s{\"name\":\"%s\",\"datatype\":\"%s\",\"shape\":%s,"
                "\"parameters\":{\"binary_data_size\":%zu}}",
                i > 0 ? "," : "", parts[i].name, parts[i].datatype, parts[i].shape,
                parts[i].size_bytes);
        tail += parts[i].size_bytes;
    }
    fprintf(stream, "]%s}", end);
    free(end);
    for (int i = 0; i < count; i++)
        if (parts[i].size_bytes > 0)
            fwrite(parts[i].data, 1, parts[i].size_bytes, stream);
    if (fclose(stream) != 0)
        return false;
    b->header_length = b->size - tail;
    return true;
}

void body_release(struct body *b)
{
    free(b->data);
    *b = (struct body){0};
}
