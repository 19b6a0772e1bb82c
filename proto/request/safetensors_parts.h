/* safetensors_parts: what the reader of a request and the reader of a file share of the safetensors
 * format. Private to proto/request/. */
#ifndef PROTO_REQUEST_SAFETENSORS_PARTS_H
#define PROTO_REQUEST_SAFETENSORS_PARTS_H

#include "proto/request/envelope.h"
#include "proto/request/parse.h"

/* The member of the header that is no tensor. */
static const char safetensors_metadata[] = "__metadata__";

/* The header as a tree, in the work's memory. Errors: INVALID_JSON, INVALID_FIELD (what the format
 * does not know), RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code safetensors_json(const cJSON **header, struct json_scan *scan,
                                            const char *json, size_t size, const struct work *work,
                                            struct error *error);

/* Announces a tensor that is a member of the header. Errors: INVALID_FIELD, UNKNOWN_INPUT,
 * DUPLICATE_INPUT, UNSUPPORTED_DTYPE. */
MUST_CHECK enum error_code safetensors_tensor(struct decode *d, const cJSON *tensor,
                                              struct error *error);

#endif
