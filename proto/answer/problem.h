/* problem: an error as HTTP says it: a status and a sentence, or the RFC 9457 document for clients
 * that ask for it. */
#ifndef PROTO_ANSWER_PROBLEM_H
#define PROTO_ANSWER_PROBLEM_H

#include "kernels/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Holds the longest document: a message of control characters twice, eight faults of full rank. */
enum { PROBLEM_TEXT_MAX = 20480, PROBLEM_INSTANCE_MAX = 256 };

/* The HTTP status of a code, e.g. 400; 499 for CANCELLED, which is never sent. */
int problem_status(enum error_code code);

/* Whether the answer carries Retry-After. */
bool problem_retry(enum error_code code);

/* Writes the body, at most PROBLEM_TEXT_MAX bytes with its terminator, and returns its length:
 * {"error":"CODE: sentence"}, or the problem+json document when `document`, and a newline.
 * `instance` is the request id, at most PROBLEM_INSTANCE_MAX printable ASCII characters: a UUID is
 * said as urn:uuid:..., any other as it is; NULL: none. */
size_t problem_print(char *text, const struct error *error, bool document, const char *instance);

#endif
