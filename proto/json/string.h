/* json_string: strings in JSON: checked, decoded and printed. Private to proto/json/. */
#ifndef PROTO_JSON_STRING_H
#define PROTO_JSON_STRING_H

#include "kernels/dtype.h"

#include <stdbool.h>
#include <stddef.h>

/* Where a text is not JSON. */
struct json_fault {
    const char *at;       /* the byte in question, or the text's end */
    const char *expected; /* static */
};

struct json_string {
    const char *begin, *end; /* what stands between the quotes */
    bool has_nul;            /* it has a \u0000 */
    bool escaped;            /* it has a backslash; otherwise its bytes are its value */
};

/* Checks the string whose first quote is at `at`: escapes, surrogate pairs, control characters and
 * UTF-8. false: *fault says why not. */
bool json_string_check(struct json_string *s, const char *at, const char *end,
                       struct json_fault *fault);

/* Writes the value of a checked string and returns its size, which is at most end - begin. */
size_t json_string_decode(const struct json_string *s, char *out);

/* The exact size of a value as a string, with its quotes. (When it is UTF-8.) */
size_t json_string_size(const struct span *value);

/* Prints a value as a string, with its quotes, and returns the end; NULL when it is not UTF-8, and
 * then *bad is the offset of the first byte that is not. */
char *json_string_print(char *out, const struct span *value, size_t *bad);

#endif
