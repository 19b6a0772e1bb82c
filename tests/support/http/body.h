/* body: an infer request's body, JSON followed by tensors. */
#ifndef TESTS_SUPPORT_HTTP_BODY_H
#define TESTS_SUPPORT_HTTP_BODY_H

#include "kernels/error.h"

#include <stdbool.h>
#include <stddef.h>

/* An input as its bytes. `shape` is the JSON text, e.g. "[2,1]". */
struct part {
    const char *name, *datatype, *shape;
    const void *data;
    size_t size_bytes;
};

struct body {
    char *data; /* owned */
    size_t size;
    size_t header_length; /* of the JSON */
};

/* All inputs in binary. `more` is what follows the inputs in the JSON object, e.g.
 * ",'parameters':{'binary_data_output':true}" (a ' stands for a "), or "". */
MUST_CHECK bool body_binary(struct body *b, const struct part *parts, int count, const char *more);

void body_release(struct body *b);

#endif
