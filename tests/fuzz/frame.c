/* JSON, then raw tensors. The JSON ends at the last closing brace, or where two bytes say. */
#include "tests/fuzz/fuzz.h"

static size_t json_size(const uint8_t *body, size_t size)
{
    while (size > 0 && body[size - 1] != '}')
        size--;
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < FUZZ_CHOICES + 2)
        return 0;
    const uint8_t *body = data + FUZZ_CHOICES + 2;
    size_t said = body[-2] | (size_t)body[-1] << 8, length = size - FUZZ_CHOICES - 2;
    size_t header = said > 0 ? said : json_size(body, length);
    if (header > 0)
        fuzz_infer(ENCODING_BINARY, (int64_t)header, data, body, length);
    return 0;
}
