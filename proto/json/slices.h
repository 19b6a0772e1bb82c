/* json_slices: one long list of elements, read by several threads. Private to
 * tensor_read.c. */
#ifndef PROTO_JSON_SLICES_H
#define PROTO_JSON_SLICES_H

#include "proto/json/element.h"
#include "proto/work.h"

enum { JSON_SLICES_MAX = 256 };

struct json_slice {
    const char *begin, *end; /* elements and the commas between them */
    int64_t first, count;    /* which elements they are, if all is well */
    bool bare_tokens;
};

struct json_slices {
    struct json_slice slices[JSON_SLICES_MAX];
    int count;
};

/* Cuts the list that is all of [text, end) into slices, and returns how many elements it has, if
 * all is well with it: never fewer than it has. The elements are not strings. */
int64_t json_slices_cut(struct json_slices *s, const char *text, const char *end);

/* Reads them into `out`, by e->dtype. false: something is wrong with the list, or work->stop is up;
 * `out` is undefined then, and a reader from the first element on will find out what it is. */
bool json_slices_read(struct json_slices *s, struct json_elements *e, char *out,
                      const struct work *work);

#endif
