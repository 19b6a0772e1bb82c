/* safetensors_write: a tensor as a file of the safetensors format (8 bytes N, little-endian; N
 * bytes of JSON; the tensor). */
#ifndef PROTO_ANSWER_SAFETENSORS_WRITE_H
#define PROTO_ANSWER_SAFETENSORS_WRITE_H

#include "kernels/tensor.h"
#include "proto/text.h"

#include <stddef.h>
#include <stdint.h>

/* Appends the bytes that go in front of the file's only tensor, padded with spaces so that it
 * starts at a multiple of TENSOR_ALIGNMENT. `name` needs no escapes; `metadata` is the members of
 * __metadata__ as JSON, "" for none. The text is not cut when it has 1 KiB more than those. */
void safetensors_write_head(struct text *t, const char *name, const struct tensor *tensor,
                            size_t bytes, const char *metadata);

#endif
