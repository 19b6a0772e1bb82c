/* envelope: the small JSON that is left when the tensors are cut out of a text, as a tree. The text
 * has passed json_scan: it is valid, its keys are unique, and its numbers stand there as they were
 * written. Private to the decoders. */
#ifndef PROTO_REQUEST_ENVELOPE_H
#define PROTO_REQUEST_ENVELOPE_H

#include "kernels/error.h"
#include "proto/json/scan.h"

#include <cjson/cJSON.h>

#include <stdbool.h>
#include <stdint.h>

/* Parses the envelope into a tree in `memory`, which is freed with the request. The root is an
 * object. Errors: INVALID_FIELD (another root), RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code envelope_parse(const cJSON **tree, const struct json_scan *scan,
                                          struct memory *memory, struct error *error);

/* A member of an object, NULL when it is absent. One that is null is absent: some clients write
 * their unset fields so. */
const cJSON *envelope_member(const cJSON *object, const char *name);

/* The value of a string, with TEXT_NUL for a NUL; NULL for what is no string. */
const char *envelope_string(const cJSON *item);

/* The text of a number, as it was written; NULL for what is no number. */
const char *envelope_number(const cJSON *item);

/* Whether the item is an integer from 0 to DECIMAL_EXACT_MAX. */
bool envelope_size(const cJSON *item, int64_t *size);

enum { ENVELOPE_FOUND_MAX = 96 };

/* Writes the item into `text` of ENVELOPE_FOUND_MAX bytes, as a sentence shows it, and returns
 * it: 5.0, "abc", an array. */
const char *envelope_found(char *text, const cJSON *item);

/* Says "<name> of <input> is <found>; expected <expected>" and returns INVALID_FIELD. `input` is
 * static or NULL. */
enum error_code envelope_wrong(const char *input, const char *name, const cJSON *item,
                               const char *expected, struct error *error);

#endif
