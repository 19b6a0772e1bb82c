/* infer: the way of one request from its bytes to its answer's, without a server: decoded, planned,
 * run on the CPU, encoded. For unit tests and fuzzers. */
#ifndef TESTS_SUPPORT_PROTO_INFER_H
#define TESTS_SUPPORT_PROTO_INFER_H

#include "kernels/plan.h"
#include "proto/answer/response.h"
#include "proto/request/head.h"
#include "proto/request/request.h"
#include "tests/support/proto/test_memory.h"

#include <stddef.h>

struct infer {
    /* To be set between init and the calls, when the defaults do not do: 1 MiB limits, JSON. */
    struct head head;
    struct request_rules rules;
    size_t
        misaligned; /* the byte at `lead` of the body stands so many bytes past a multiple of 64 */
    size_t lead;

    struct test_memory memory;
    struct request request;
    struct plan plan;
    struct response response;
    struct error error;
    char *body, *block;
};

void infer_init(struct infer *f);
void infer_release(struct infer *f);

/* Copies the body to memory of exactly its size (and head room), and decodes it for `op`, which
 * exists. Forgets what an earlier call left. */
enum error_code infer_decode(struct infer *f, const char *op, const void *body, size_t size);

/* After a decode: plans and runs. */
enum error_code infer_run(struct infer *f);

/* Decodes, plans, runs and encodes. */
enum error_code infer_answer(struct infer *f, const char *op, const void *body, size_t size);

#endif
