#include "proto/answer/safetensors_write.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

enum { LENGTH_BYTES = 8 };

static void put_metadata(struct text *t, const char *id, int64_t ignored)
{
    if (*id == '\0' && ignored == 0)
        return;
    text_puts(t, "\"__metadata__\":{");
    if (*id != '\0') {
        text_puts(t, "\"id\":");
        text_json(t, id, strlen(id));
    }
    if (ignored > 0) {
        text_puts(t, *id != '\0' ? ",\"ignored_indices\":\"" : "\"ignored_indices\":\"");
        text_int(t, ignored);
        text_puts(t, "\"");
    }
    text_puts(t, "},");
}

void safetensors_write_head(struct text *t, const struct tensor *output, size_t bytes,
                            const char *id, int64_t ignored)
{
    size_t start = t->size;
    const char *dtype = dtype_safetensors_name(output->dtype);
    assert(dtype);
    text_put(t, "        ", LENGTH_BYTES);
    text_puts(t, "{");
    put_metadata(t, id, ignored);
    text_puts(t, "\"output\":{\"dtype\":\"");
    text_puts(t, dtype);
    text_puts(t, "\",\"shape\":");
    text_shape(t, output);
    text_puts(t, ",\"data_offsets\":[0,");
    text_int(t, (int64_t)bytes);
    text_puts(t, "]}}");
    text_pad(t, start, TENSOR_ALIGNMENT);
    assert(!t->cut);
    uint64_t length = t->size - start - LENGTH_BYTES;
    memcpy(t->data + start, &length, LENGTH_BYTES);
}
