/* json_element: a list of a tensor's elements in JSON, whatever their type. Private to
 * proto/json/. */
#ifndef PROTO_JSON_ELEMENT_H
#define PROTO_JSON_ELEMENT_H

#include "proto/number/number.h"

#include <stdbool.h>

/* What reading a list leaves behind besides its elements. */
struct json_elements {
    enum dtype dtype; /* not complex */
    bool exact;       /* dtype is FP32, and integers must be exact in it */
    bool bare_tokens; /* a NaN or Infinity without quotes was read */
    char *decoded;    /* BYTES: where the next string that has escapes is decoded to */
};

/* number_read for elements of all kinds: NUMBER_NONE where no element of the type starts. For BYTES
 * `out` is an array of struct span, into the text or into what `decoded` points at, where there is
 * room for as many bytes as the text has; the text has passed json_scan. */
struct number_run json_elements_read(struct json_elements *e, const char *text, const char *end,
                                     void *out, int64_t most);

#endif
