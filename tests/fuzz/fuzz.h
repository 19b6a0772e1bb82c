/* fuzz: what the fuzzers of request bodies share. Each file beside this one is a libFuzzer target
 * of its own; a body that can be decoded is planned, run on the CPU and answered too. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "kernels/op.h"
#include "tests/support/infer.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bounds, so that a fuzzer finds faults and not the machine's limits. */
enum { FUZZ_BODY_LIMIT = 1 << 20, FUZZ_OUTPUT_LIMIT = 1 << 16, FUZZ_MEMORY_LIMIT = 1 << 24 };

/* Two bytes of the input choose the operation, the answer's encoding and where the body lies. */
enum { FUZZ_CHOICES = 2 };

static inline void fuzz_infer(enum encoding body, int64_t header_length, const uint8_t *choices,
                              const uint8_t *data, size_t size)
{
    struct infer f;
    infer_init(&f);
    f.memory.limit = FUZZ_MEMORY_LIMIT;
    f.rules.body_limit = f.rules.json_limit = FUZZ_BODY_LIMIT;
    f.rules.output_limit = FUZZ_OUTPUT_LIMIT;
    f.rules.cuda_devices = 2;
    f.head.body = body;
    f.head.header_length = header_length;
    f.head.accepted = (enum encoding)(choices[1] % (ENCODING_COUNT + 1));
    f.misaligned = choices[1] / 16;
    (void)infer_answer(&f, op_at(choices[0] % op_count())->name, data, size);
    infer_release(&f);
}

#endif
