/* test_memory: the struct memory of tests: every piece is a malloc of exactly its size, so that a
 * sanitizer sees each byte too far, and the n-th get can fail. */
#ifndef TESTS_SUPPORT_PROTO_TEST_MEMORY_H
#define TESTS_SUPPORT_PROTO_TEST_MEMORY_H

#include "proto/work.h"

#include <stddef.h>

struct test_piece;

struct test_memory {
    struct memory memory; /* give this to the code under test */
    struct work work;     /* one thread, never stopped, this memory */
    size_t gets;          /* calls of get so far */
    size_t bytes;         /* given out so far */
    size_t fail_at;       /* the get that fails, counted from 1; 0: none */
    size_t limit;         /* a get that would bring `bytes` above it fails */
    struct test_piece *pieces;
};

void test_memory_init(struct test_memory *m);

/* Frees every piece given out; the memory can be used again, its settings are kept. */
void test_memory_clear(struct test_memory *m);

#endif
