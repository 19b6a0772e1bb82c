/* digits: numbers that texts write as digits alone, without a sign, a blank or a point: sizes in
 * headers, URLs and settings. The numbers of JSON are number.h's and decimal.h's. */
#ifndef PROTO_NUMBER_DIGITS_H
#define PROTO_NUMBER_DIGITS_H

#include <stdint.h>

/* Reads the digits that `text`, NUL-terminated, starts with, and returns what follows them. NULL,
 * with *value undefined: there are none, or their number exceeds `most`. */
const char *digits_read(const char *text, uint64_t most, uint64_t *value);

#endif
