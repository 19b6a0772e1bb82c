/* frame: raw tensors as protocol v2 packs them (little-endian, row-major, one after the other)
 * become views into the bytes that hold them. Safetensors uses the same views. */
#ifndef PROTO_REQUEST_FRAME_H
#define PROTO_REQUEST_FRAME_H

#include "kernels/error.h"
#include "kernels/tensor.h"
#include "proto/work.h"

#include <stddef.h>

/* The part of a body that no tensor has taken yet. */
struct frame {
    char *at;
    size_t left;
};

/* Takes the next `bytes` as the elements of `t`, whose dtype and shape are set. `input` is its
 * name, static. Errors: SIZE_MISMATCH, RESOURCE_EXHAUSTED, CANCELLED. */
MUST_CHECK enum error_code frame_take(struct frame *frame, struct tensor *t, const char *input,
                                      size_t bytes, const struct work *work, struct error *error);

/* Says that bytes were left over: SIZE_MISMATCH. */
MUST_CHECK enum error_code frame_end(const struct frame *frame, struct error *error);

/* Lets t->data view `bytes` writable bytes at `at`. Elements that are not aligned to their type are
 * moved to memory from `work`, with ANSWER_HEAD_ROOM in front. BYTES elements (each a 32-bit length
 * and that many bytes) become an array of spans there. Errors as frame_take. */
MUST_CHECK enum error_code frame_view(struct tensor *t, const char *input, char *at, size_t bytes,
                                      const struct work *work, struct error *error);

#endif
