/* A body that is all JSON, by itself and with a recall that knows it or one that is almost it. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > FUZZ_CHOICES)
        fuzz_recall(data, data + FUZZ_CHOICES, size - FUZZ_CHOICES);
    return 0;
}
