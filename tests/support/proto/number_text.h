/* number_text: one number at a time through proto/number, for cmocka programs. */
#ifndef TESTS_SUPPORT_PROTO_NUMBER_TEXT_H
#define TESTS_SUPPORT_PROTO_NUMBER_TEXT_H

#include "proto/number/number.h"

#include <stdint.h>

struct number_run read_text(enum dtype dtype, const char *text, void *out, int64_t most);

/* The text is one number and nothing else; else the test fails. */
void read_one(enum dtype dtype, const char *text, void *out);

/* The text of one element, without its comma, until the next call. */
const char *print_one(enum dtype dtype, const void *element);

#endif
