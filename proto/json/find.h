/* json_find: searches through long stretches of JSON text, sixteen bytes at a time where the
 * machine has SSE2. Private to proto/json/. */
#ifndef PROTO_JSON_FIND_H
#define PROTO_JSON_FIND_H

#include <stdint.h>

/* The first byte of [at, end) that means something between the elements of a value: one of []{}" or
 * a byte that is not ASCII. `end` when there is none. */
const char *json_find_bracket(const char *at, const char *end);

/* The first byte of [at, end) that does not stand for itself in a string: " or \, a control
 * character or a byte that is not ASCII. `end` when there is none. */
const char *json_find_special(const char *at, const char *end);

/* How many commas [at, end) has. */
int64_t json_count_commas(const char *at, const char *end);

#endif
