/* A compressed body; the first byte chooses the coding, the limit and the alignment. */
#include "proto/request/inflate.h"

#include "kernels/limits.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/proto/test_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct test_memory memory;
    struct inflated inflated;
    struct error error;

    if (size == 0)
        return 0;
    enum coding coding = data[0] & 1 ? CODING_GZIP : CODING_DEFLATE;
    struct inflate_limit limit = {data[0] & 2 ? FUZZ_BODY_LIMIT : 100, "max_body"};
    size_t lead = data[0] >> 2;
    test_memory_init(&memory);
    memory.limit = FUZZ_MEMORY_LIMIT;
    if (inflate_body(&inflated, coding, (const char *)data + 1, size - 1, lead, limit, &memory.work,
                     &error) == ERROR_NONE) {
        FUZZ_CHECK(inflated.size <= limit.bytes);
        FUZZ_CHECK((uintptr_t)(inflated.data + lead) % TENSOR_ALIGNMENT == 0);
    } else {
        fuzz_error(&error);
    }
    test_memory_clear(&memory);
    return 0;
}
