/* fuzz: what the fuzzers share. Each file beside this one is a libFuzzer target of its own. It
 * aborts when the code under test breaks a promise of its header. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "kernels/error.h"
#include "proto/request/head.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bounds, so that a fuzzer finds faults and not the machine's limits. */
enum { FUZZ_BODY_LIMIT = 1 << 20, FUZZ_OUTPUT_LIMIT = 1 << 16, FUZZ_MEMORY_LIMIT = 1 << 24 };

/* The first bytes of an infer request's input are not the body: the operation; which allocation
 * fails (0: none) in the low four bits; the answer's encoding and where the body lies. */
enum { FUZZ_CHOICES = 3 };

/* Decodes a body; one that can be decoded is planned, run on the CPU and answered. What is wrong
 * with it is said in every form of an error. Every JSON text that comes out must be JSON. */
void fuzz_infer(enum encoding body, int64_t header_length, const uint8_t *choices,
                const uint8_t *data, size_t size);

/* A body that is all JSON, once read by itself and twice with a recall, after a text that differs
 * from it in one byte: the same is said of it each time. */
void fuzz_recall(const uint8_t *choices, const uint8_t *data, size_t size);

/* An error that a client may see for its request: known, with a sentence, and JSON. */
void fuzz_error(const struct error *error);

/* Aborts and says why. */
#define FUZZ_CHECK(statement)                                                                      \
    do {                                                                                           \
        if (!(statement))                                                                          \
            fuzz_fail(__FILE__, __LINE__, #statement);                                             \
    } while (0)

_Noreturn void fuzz_fail(const char *file, int line, const char *statement);

#endif
