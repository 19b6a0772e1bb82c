/* json_skip: over a whole value, checking its brackets, strings and UTF-8 only. Private to
 * scanner.c and proto/request/recall.c. */
#ifndef PROTO_JSON_SKIP_H
#define PROTO_JSON_SKIP_H

#include "kernels/error.h"
#include "proto/json/string.h"
#include "proto/work.h"

/* *at: the value's first byte; moves past its last one. `depth` arrays and objects are open around
 * it. Errors, not said yet: INVALID_JSON with a fault, CANCELLED. */
MUST_CHECK enum error_code json_skip(const char **at, const char *end, int depth,
                                     const struct work *work, struct json_fault *fault);

#endif
