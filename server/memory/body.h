/* body: an upload, collected in one block. The first binary tensor, which starts H bytes into the
 * body, is aligned, and ANSWER_HEAD_ROOM writable bytes stand in front of the body. */
#ifndef SERVER_MEMORY_BODY_H
#define SERVER_MEMORY_BODY_H

#include "kernels/error.h"
#include "server/memory/arena.h"

#include <stdint.h>

enum { BODY_SMALL_MAX = 64 * 1024 }; /* bytes of a body that may run inline */

struct body {
    struct arena *arena;
    struct block *block; /* the body's own; NULL while it lies in the home block */
    char *bytes;
    size_t size, capacity;
    size_t lead; /* bytes in front of the body in its block */
    size_t limit;
    const char *limit_name; /* the setting, static */
};

/* Prepares for `length` bytes, -1 when the length is not known before the end. `header_length` is
 * H, or -1. Reserves the memory. Errors: PAYLOAD_TOO_LARGE (over the limit, or over all memory that
 * the server may use), RESOURCE_EXHAUSTED (no room now). */
MUST_CHECK enum error_code body_open(struct body *body, struct arena *arena, int64_t length,
                                     int64_t header_length, size_t limit, const char *limit_name,
                                     struct error *error);

/* Appends what arrived. Errors as body_open. */
MUST_CHECK enum error_code body_append(struct body *body, const char *bytes, size_t size,
                                       struct error *error);

/* Called after the last byte: the rest of the block becomes memory for the request. */
void body_close(struct body *body);

#endif
