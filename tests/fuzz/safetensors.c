/* A safetensors file. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= FUZZ_CHOICES)
        fuzz_infer(ENCODING_SAFETENSORS, -1, data, data + FUZZ_CHOICES, size - FUZZ_CHOICES);
    return 0;
}
