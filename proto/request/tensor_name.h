/* tensor_name: the names that a kept tensor may have: 1 to 128 of A-Z a-z 0-9 _ . -, the first no
 * dot. */
#ifndef PROTO_REQUEST_TENSOR_NAME_H
#define PROTO_REQUEST_TENSOR_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { TENSOR_NAME_MAX = 128 };

#define TENSOR_NAME_RULE "1 to 128 letters, digits, '_', '.' and '-', not beginning with a dot"

bool tensor_name_is_legal(const char *name, size_t size);

#endif
