/* inflate: a compressed body, decompressed as a whole into memory of its own, never more of it than
 * the limit allows. */
#ifndef PROTO_REQUEST_INFLATE_H
#define PROTO_REQUEST_INFLATE_H

#include "kernels/error.h"
#include "proto/request/head.h"
#include "proto/work.h"

#include <stddef.h>

struct inflated {
    char *data; /* from work->memory, with ANSWER_HEAD_ROOM writable bytes in front */
    size_t size;
};

/* The most that a body may become, and the setting that says so. */
struct inflate_limit {
    size_t bytes;
    const char *setting;
};

/* Decompresses `size` bytes of gzip (RFC 1952, one member or several) or deflate (RFC 1950), placed
 * so that data + lead is aligned to TENSOR_ALIGNMENT. Takes from work->memory at the most what the
 * result needs plus a first guess that is smaller than the limit. Errors: INVALID_HEADER (the body
 * is not what its Content-Encoding says), PAYLOAD_TOO_LARGE (more than the limit),
 * RESOURCE_EXHAUSTED, CANCELLED. */
MUST_CHECK enum error_code inflate_body(struct inflated *inflated, enum coding coding,
                                        const char *body, size_t size, size_t lead,
                                        struct inflate_limit limit, const struct work *work,
                                        struct error *error);

#endif
