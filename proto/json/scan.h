/* json_scan: one strict pass over a request's JSON. It checks the whole text (RFC 8259, UTF-8,
 * depth, duplicate keys, trailing bytes) and cuts the tensors' values out, so that numbers never
 * become nodes: what remains, the envelope, is small and goes to a general parser.
 *
 * Cut are: the value of each key `data` in a member of `inputs` (unless it is null), and, where
 * `inputs` is an object (the short form), each of its members that is not an object. In the
 * envelope a cut value is replaced by its number. The inside of a cut value is checked for
 * brackets, strings and UTF-8 only; json_tensor_read checks its elements. */
#ifndef PROTO_JSON_SCAN_H
#define PROTO_JSON_SCAN_H

#include "kernels/error.h"
#include "proto/work.h"

#include <stddef.h>

enum { JSON_DEPTH_MAX = 32, JSON_ENVELOPE_MAX = 256 * 1024 };

struct json_cut {
    size_t offset; /* of the value in the text */
    size_t size;
    int depth; /* arrays and objects that are open around it */
};

struct json_scan {
    const char *text; /* as given */
    size_t size;
    char *envelope; /* NUL-terminated, from work->memory */
    size_t envelope_size;
    const struct json_cut *cuts; /* from work->memory, or the recall's: good for this one request */
    int cut_count;
};

/* Errors: INVALID_JSON with a byte offset (also for an envelope above JSON_ENVELOPE_MAX, and for
 * \u0000 in it), RESOURCE_EXHAUSTED, CANCELLED. */
MUST_CHECK enum error_code json_scan(struct json_scan *scan, const char *text, size_t size,
                                     const struct work *work, struct error *error);

/* The same for a text that is one tensor: cut is the value of the key `data` of its root. */
MUST_CHECK enum error_code json_scan_tensor(struct json_scan *scan, const char *text, size_t size,
                                            const struct work *work, struct error *error);

#endif
