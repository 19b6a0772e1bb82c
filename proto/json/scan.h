/* json_scan: one strict pass over a request's JSON. It checks the whole text (RFC 8259, UTF-8,
 * depth, duplicate keys, trailing bytes) and cuts the tensors' values out, so that numbers never
 * become nodes: what remains, the envelope, is small and goes to a general parser.
 *
 * Cut are: the value of each key `data` in a member of `inputs` (unless it is null), and, where
 * `inputs` is an object (the short form), each of its members that is not an object. The inside of
 * a cut value is checked for brackets, strings and UTF-8 only; json_tensor_read checks its
 * elements.
 *
 * The envelope says what the text says, in a form that a general parser cannot spoil:
 * - a number stands there as a string of JSON_NUMBER_MARK and its text, as a double does not show
 *   what was written;
 * - \u0000 in a string stands there as TEXT_NUL, as C strings end at a NUL;
 * - a number is the number of a cut value.
 * Neither mark can come from the text, which is UTF-8. */
#ifndef PROTO_JSON_SCAN_H
#define PROTO_JSON_SCAN_H

#include "kernels/error.h"
#include "proto/text.h"
#include "proto/work.h"

#include <stddef.h>

/* Arrays and objects in one another, and what was expected where more come. */
enum { JSON_DEPTH_MAX = 32 };
#define JSON_DEPTH_EXPECTED "at most 32 arrays and objects in one another"

#define JSON_NUMBER_MARK "\xFF"

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
    size_t id_offset, id_size; /* where the root's member `id` stands, with its quotes, if it is a
                                  string without escapes; size 0: it is not */
};

/* `rest_max`: bytes of the text that may be left when the values are cut out. Errors: INVALID_JSON
 * with a byte offset (also when more are left), RESOURCE_EXHAUSTED, CANCELLED. */
MUST_CHECK enum error_code json_scan(struct json_scan *scan, const char *text, size_t size,
                                     size_t rest_max, const struct work *work, struct error *error);

/* The same for a text that is one tensor: cut is the value of the key `data` of its root. */
MUST_CHECK enum error_code json_scan_tensor(struct json_scan *scan, const char *text, size_t size,
                                            size_t rest_max, const struct work *work,
                                            struct error *error);

/* The same for a text in which no tensor's values stand: nothing is cut. */
MUST_CHECK enum error_code json_scan_whole(struct json_scan *scan, const char *text, size_t size,
                                           const struct work *work, struct error *error);

#endif
