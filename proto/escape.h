/* escape: what a string of JSON writes for a byte that may not stand in it (RFC 8259, section 7): a
 * backslash and a letter, or \u and four digits. Private to proto/. */
#ifndef PROTO_ESCAPE_H
#define PROTO_ESCAPE_H

#include <string.h>

/* What stands behind the backslash, and what it means. */
#define ESCAPE_LETTERS "\"\\/bfnrt"
#define ESCAPE_VALUES  "\"\\/\b\f\n\r\t"

enum { ESCAPE_MAX = 6 /* \u0000 */ };

/* Writes the escape of a control character, a quote or a backslash, in at most ESCAPE_MAX bytes,
 * and returns its end. */
static inline char *escape_put(char *out, char c)
{
    static const char digits[] = "0123456789abcdef", values[] = ESCAPE_VALUES;
    const char *value = c != '\0' ? strchr(values, c) : NULL;

    *out++ = '\\';
    if (value) {
        *out++ = ESCAPE_LETTERS[value - values];
        return out;
    }
    memcpy(out, "u00", 3);
    out[3] = digits[c >> 4];
    out[4] = digits[c & 15];
    return out + 5;
}

#endif
