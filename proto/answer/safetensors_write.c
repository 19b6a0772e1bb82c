#include "proto/answer/safetensors_write.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

enum { LENGTH_BYTES = 8 };

void safetensors_write_head(struct text *t, const char *name, const struct tensor *tensor,
                            size_t bytes, const char *metadata)
{
    size_t start = t->size;
    const char *dtype = dtype_safetensors_name(tensor->dtype);
    assert(dtype);
    text_put(t, "        ", LENGTH_BYTES);
    text_puts(t, "{");
    if (*metadata)
        text_printf(t, "\"__metadata__\":{%s},", metadata);
    text_printf(t, "\"%s\":{\"dtype\":\"", name);
    text_puts(t, dtype);
    text_puts(t, "\",\"shape\":");
    text_shape(t, tensor);
    text_puts(t, ",\"data_offsets\":[0,");
    text_int(t, (int64_t)bytes);
    text_puts(t, "]}}");
    text_pad(t, start, TENSOR_ALIGNMENT);
    assert(!t->cut);
    uint64_t length = t->size - start - LENGTH_BYTES;
    memcpy(t->data + start, &length, LENGTH_BYTES);
}
