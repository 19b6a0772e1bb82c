/* json_word: the elements of a tensor that JSON has no number for: true, false, NaN, Infinity.
 * Private to proto/json/. */
#ifndef PROTO_JSON_WORD_H
#define PROTO_JSON_WORD_H

#include "kernels/dtype.h"
#include <stdbool.h>

/* What an answer says for a float that is not finite; ERROR refuses it. */
enum nonfinite { NONFINITE_ERROR, NONFINITE_TOKEN, NONFINITE_STRING, NONFINITE_NULL };

/* Reads the word at `text` as an element of `dtype` and returns its end; NULL when none is there
 * that the type has. *bare turns true for a NaN or Infinity without quotes, which is not JSON. */
const char *json_word_read(enum dtype dtype, const char *text, const char *end, void *element,
                           bool *bare);

/* How a float that is not finite is said. NONFINITE_ERROR: as in NONFINITE_TOKEN, for messages. */
const char *json_word_text(enum dtype dtype, const void *element, enum nonfinite nonfinite);

#endif
