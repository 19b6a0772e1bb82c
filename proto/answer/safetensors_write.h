/* safetensors_write: an answer as a file of the safetensors format (8 bytes N, little-endian; N
 * bytes of JSON; the tensor). */
#ifndef PROTO_ANSWER_SAFETENSORS_WRITE_H
#define PROTO_ANSWER_SAFETENSORS_WRITE_H

#include "kernels/tensor.h"
#include "proto/text.h"

#include <stddef.h>
#include <stdint.h>

/* Appends the bytes that go in front of the only tensor of an answer, padded with spaces so that it
 * starts at a multiple of TENSOR_ALIGNMENT. `ignored` rows (when any) and the id (when not "") are
 * said in __metadata__. The text is not cut when it has 3 KiB. */
void safetensors_write_head(struct text *t, const struct tensor *output, size_t bytes,
                            const char *id, int64_t ignored);

#endif
