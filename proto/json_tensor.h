/* json_tensor: a tensor's elements as JSON text, read and printed by their type. */
#ifndef PROTO_JSON_TENSOR_H
#define PROTO_JSON_TENSOR_H

#include "kernels/tensor.h"
#include "proto/json_scan.h"
#include "proto/request.h"

#include <stdbool.h>

/* Reads cut number `cut` of a scanned text as elements of t->dtype. With t->rank >= 0 the value is
 * flat, or nested exactly as t->shape (a bare scalar stands for shape []); with t->rank < 0 the
 * shape is the nesting. t->data gets memory from `work` with ANSWER_HEAD_ROOM bytes in front.
 * *bare_tokens turns true when a bare NaN or Infinity was read. `input` is the input's name, for
 * messages. Errors: INVALID_JSON (byte offset), SHAPE_MISMATCH, SIZE_MISMATCH, VALUE_OUT_OF_RANGE
 * (position of the element), INVALID_FIELD (an element of another kind, e.g. a string where a
 * number must be; null), RESOURCE_EXHAUSTED, CANCELLED. */
MUST_CHECK enum error_code json_tensor_read(struct tensor *t, const char *input,
                                            const struct json_scan *scan, int cut,
                                            const struct work *work, bool *bare_tokens,
                                            struct error *error);

/* The most bytes that the flat array of t's elements can take as text. Saturates at SIZE_MAX. */
size_t json_tensor_text_max(const struct tensor *t);

/* Prints t's elements as one flat array into `out`, which has json_tensor_text_max(t) bytes, and
 * stores the length. Floats: the shortest text that reads back to the same bits in the tensor's
 * width, always with a point or an exponent. Errors: NONFINITE_IN_JSON (position of the element),
 * NOT_UTF8, CANCELLED. */
MUST_CHECK enum error_code json_tensor_print(const struct tensor *t, enum nonfinite nonfinite,
                                             char *out, size_t *size, const struct work *work,
                                             struct error *error);

#endif
