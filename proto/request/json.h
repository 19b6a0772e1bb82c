/* request_json: the envelope of a JSON request, with or without binary tensors behind it. Private
 * to proto/request/. */
#ifndef PROTO_REQUEST_JSON_H
#define PROTO_REQUEST_JSON_H

#include "proto/request/envelope.h"
#include "proto/request/parse.h"

/* Reads what json_scan left of a request: parameters, id, outputs, and what it says of the inputs.
 * Errors: INVALID_JSON INVALID_FIELD INVALID_HEADER INVALID_PARAMETER UNKNOWN_INPUT DUPLICATE_INPUT
 * UNKNOWN_OUTPUT SHAPE_MISMATCH UNSUPPORTED_DTYPE RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code request_json(struct decode *d, const struct json_scan *scan,
                                        struct error *error);

/* The part of request_json for the member `inputs`: announces each input with its type, shape and
 * source. */
MUST_CHECK enum error_code request_json_inputs(struct decode *d, const cJSON *inputs,
                                               struct error *error);

/* Reads a text that is one tensor, scanned as such: announces it. SOURCE_NONE: it has no data. */
MUST_CHECK enum error_code request_json_tensor(struct decode *d, const struct json_scan *scan,
                                               struct error *error);

/* The part of request_json for a `shape`, of JSON and of safetensors. */
MUST_CHECK enum error_code request_json_shape(struct decode *d, struct announced *a,
                                              const cJSON *shape, struct error *error);

/* Takes what a `parameters` object says of a shared memory region: a reference to the tensor of
 * that name. */
MUST_CHECK enum error_code request_json_region(struct reference *reference, const cJSON *parameters,
                                               struct error *error);

/* Refuses members of a `parameters` object that no level of a request may have. */
MUST_CHECK enum error_code request_json_refuse(const cJSON *parameters, struct error *error);

enum { REQUEST_PLACE_MAX = 32 };

/* Writes the place of a member, "inputs[1]", into `text` of REQUEST_PLACE_MAX bytes and returns
 * it. */
const char *request_json_place(char *text, const char *list, int i);

#endif
