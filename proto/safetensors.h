/* safetensors: a request or an answer as a file of the safetensors format (8 bytes N,
 * little-endian; N bytes of JSON; the tensors). Inputs are tensors by name. Parameters are strings
 * of the file's metadata, where `id` is the request's id. */
#ifndef PROTO_SAFETENSORS_H
#define PROTO_SAFETENSORS_H

#include "kernels/error.h"
#include "kernels/tensor.h"
#include "proto/json_write.h"
#include "proto/request_parse.h"

#include <stddef.h>

/* The format's own bound of N. The JSON is bounded further, as every envelope is. */
enum { SAFETENSORS_HEADER_MAX = 100000000 };

/* Announces the tensors of a file, in the order of their data, takes its parameters, and lets
 * `frame` hold the data. All of the format's rules are enforced but one: that a tensor has the size
 * of its shape, which request_load finds. Errors: INVALID_HEADER (N), PAYLOAD_TOO_LARGE,
 * INVALID_JSON, INVALID_FIELD, SIZE_MISMATCH (holes, overlaps, bytes left over), SHAPE_MISMATCH,
 * UNSUPPORTED_DTYPE, UNKNOWN_INPUT, DUPLICATE_INPUT, INVALID_PARAMETER, RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code safetensors_read(struct decode *d, char *body, size_t size,
                                            struct frame *frame, struct error *error);

/* Appends the bytes that go in front of the only tensor of an answer, padded with spaces so that it
 * starts at a multiple of TENSOR_ALIGNMENT. `ignored` rows (when any) and the id (when not "") are
 * said in __metadata__. The text is not cut when it has 3 KiB. */
void safetensors_write_head(struct text *t, const struct tensor *output, size_t bytes,
                            const char *id, int64_t ignored);

#endif
