/* safetensors_read: a request as a file of the safetensors format (8 bytes N, little-endian; N
 * bytes of JSON; the tensors). Inputs are tensors by name. Parameters are strings of the file's
 * metadata, where `id` is the request's id. */
#ifndef PROTO_REQUEST_SAFETENSORS_READ_H
#define PROTO_REQUEST_SAFETENSORS_READ_H

#include "kernels/error.h"
#include "proto/request/parse.h"
#include "proto/request/safetensors_file.h"

#include <stddef.h>

/* Announces the tensors of a file, in the order of their data, takes its parameters, and lets
 * `frame` hold the data. All of the format's rules are enforced but one: that a tensor has the size
 * of its shape, which request_load finds. Errors: INVALID_HEADER (N), PAYLOAD_TOO_LARGE,
 * INVALID_JSON, INVALID_FIELD, SIZE_MISMATCH (holes, overlaps, bytes left over), SHAPE_MISMATCH,
 * UNSUPPORTED_DTYPE, UNKNOWN_INPUT, DUPLICATE_INPUT, INVALID_PARAMETER, RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code safetensors_read(struct decode *d, char *body, size_t size,
                                            struct frame *frame, struct error *error);

#endif
