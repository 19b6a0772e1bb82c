/* expect: assertions about answers, for cmocka programs. They print what came when they fail. In
 * JSON that they are given a ' stands for a ". */
#ifndef TESTS_SUPPORT_HTTP_EXPECT_H
#define TESTS_SUPPORT_HTTP_EXPECT_H

#include "tests/support/http/answer.h"

#include <stddef.h>

/* Status 200, exactly `application/json`, and exactly this body. */
void expect_json(const struct answer *a, const char *body);

/* An error: the status, the header Error-Code, `application/json`, and a body that is exactly
 * {"error":"CODE: sentence"} with a sentence that holds `part` ("" for any). */
void expect_error(const struct answer *a, int status, const char *code, const char *part);

/* A binary answer whose JSON, without its padding, is `json`, and whose tensors are these bytes;
 * the first of them stands at a multiple of 64. */
void expect_binary(const struct answer *a, const char *json, const void *tensors,
                   size_t size_bytes);

/* The body holds `part` (and has no NUL before it). */
void expect_part(const struct answer *a, const char *part);

/* A header with exactly this value, once; NULL: no such header. */
void expect_header(const struct answer *a, const char *name, const char *value);

#endif
