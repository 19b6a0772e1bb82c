/* A tensor that is to be kept. The first byte says what the body is, the second which allocation
 * fails (0: none) and how it is compressed; two more are the header length. */
#include "tests/fuzz/fuzz.h"

#include "proto/request/tensor_read.h"
#include "tests/support/proto/test_memory.h"

#include <stdlib.h>
#include <string.h>

enum { CHOICES = 4 };

static void check(const struct tensor *t, const struct span *inner)
{
    size_t bytes;
    volatile unsigned char sum = 0;

    FUZZ_CHECK(t->dtype > DTYPE_NONE && t->dtype < DTYPE_COUNT && t->dtype != DTYPE_BYTES);
    FUZZ_CHECK(t->rank >= 0 && t->rank <= RANK_MAX);
    FUZZ_CHECK(tensor_bytes(t, &bytes) && (!t->data || inner->data));
    for (size_t i = 0; t->data && i < bytes; i++)
        sum = (unsigned char)(sum + ((const unsigned char *)t->data)[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct request_rules rules = {.body_limit = FUZZ_BODY_LIMIT,
                                        .json_limit = FUZZ_BODY_LIMIT,
                                        .output_limit = FUZZ_OUTPUT_LIMIT};
    struct test_memory memory;
    struct error error;

    if (size < CHOICES)
        return 0;
    enum tensor_body kind = (enum tensor_body)(data[0] % 3);
    int64_t header = data[2] | data[3] << 8;
    struct head head = {.body = ENCODING_JSON,
                        .header_length = kind == TENSOR_BODY_JSON && header > 0 ? header : -1,
                        .coding = (enum coding)(data[1] >> 4 & 1)};
    struct tensor t = {.dtype = DTYPE_FP32, .rank = 1, .shape = {data[2]}};
    char *body = malloc(ANSWER_HEAD_ROOM + size - CHOICES);
    struct span inner = {body + ANSWER_HEAD_ROOM, size - CHOICES};
    FUZZ_CHECK(body);
    memcpy(body + ANSWER_HEAD_ROOM, data + CHOICES, size - CHOICES);
    test_memory_init(&memory);
    memory.fail_at = data[1] & 15;
    memory.limit = FUZZ_MEMORY_LIMIT;
    error_clear(&error);
    if (tensor_read(&t, kind, &head, &rules, &memory.work, &inner, &error) == ERROR_NONE)
        check(&t, &inner);
    else
        fuzz_error(&error);
    const char *ttl;
    if (tensor_patch_read(&ttl, (const char *)data + CHOICES, size - CHOICES, &memory.work,
                          &error) != ERROR_NONE)
        fuzz_error(&error);
    test_memory_clear(&memory);
    free(body);
    return 0;
}
