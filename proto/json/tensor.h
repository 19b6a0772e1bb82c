/* json_tensor: a tensor's elements as JSON text, read and printed by their type. */
#ifndef PROTO_JSON_TENSOR_H
#define PROTO_JSON_TENSOR_H

#include "kernels/tensor.h"
#include "proto/json/scan.h"
#include "proto/json/word.h"
#include "proto/work.h"

#include <stdbool.h>

/* A value that is to be read. */
struct json_value {
    const struct json_scan *scan;
    int cut;      /* its number among the scan's cuts */
    bool untyped; /* FP32 because the client named no type: an integer that FP32 does not have is an
                     error, as it was hardly meant to be rounded */
};

/* Reads a value as elements of t->dtype, which is not complex. With t->rank >= 0 the value is flat,
 * or nested exactly as t->shape (a bare scalar stands for shape []); with t->rank < 0 the shape is
 * the nesting. t->data gets memory from `work` with ANSWER_HEAD_ROOM bytes in front; it is bounded
 * by the text, whatever the shape. BYTES elements point into the text, or into memory from `work`
 * where they have escapes. *bare_tokens turns true when a bare NaN or Infinity was read. `input` is
 * the input's name, static. A long flat list of numbers is read by work->threads threads. Errors:
 * INVALID_JSON (byte offset), SHAPE_MISMATCH (another nesting than the shape's, or a ragged one,
 * with the position of the list or element at fault), SIZE_MISMATCH (a flat list of another
 * length), VALUE_OUT_OF_RANGE (not in the type, which includes 1.5 and NaN for integers; position
 * of the element), INVALID_FIELD (an element of another kind, e.g. a string where a number must be;
 * null; with its position), RESOURCE_EXHAUSTED, CANCELLED. */
MUST_CHECK enum error_code json_tensor_read(struct tensor *t, const char *input,
                                            const struct json_value *value, const struct work *work,
                                            bool *bare_tokens, struct error *error);

/* The most bytes that the flat array of t's elements can take as text. Saturates at SIZE_MAX. For
 * BYTES the elements are looked at, and the size is exact but for one byte; for other types
 * t->data need not be there. 0 elements of any type: 2. */
size_t json_tensor_text_max(const struct tensor *t);

/* Prints t's elements as one flat array into `out`, which has json_tensor_text_max(t) bytes, and
 * stores the length. Floats: the shortest text that reads back to the same bits in the tensor's
 * width, always with a point or an exponent. Many numbers are printed by work->threads threads.
 * Errors: NONFINITE_IN_JSON, NOT_UTF8 (each with the position of the element), CANCELLED. */
MUST_CHECK enum error_code json_tensor_print(const struct tensor *t, enum nonfinite nonfinite,
                                             char *out, size_t *size, const struct work *work,
                                             struct error *error);

#endif
