/* safetensors_file: a whole file of the safetensors format, whatever its tensors are called: what
 * its header says, without its data. */
#ifndef PROTO_REQUEST_SAFETENSORS_FILE_H
#define PROTO_REQUEST_SAFETENSORS_FILE_H

#include "kernels/error.h"
#include "kernels/tensor.h"
#include "proto/work.h"

#include <stddef.h>

enum { SAFETENSORS_LENGTH_BYTES = 8 };

/* The format's own bound of the bytes of JSON. */
enum { SAFETENSORS_HEADER_MAX = 100000000 };

struct safetensors_entry {
    const char *name;
    struct tensor tensor; /* without data */
    size_t begin, bytes;  /* of its data, counted from the end of the header */
};

/* A member of __metadata__. */
struct safetensors_word {
    const char *name, *value;
};

/* A file's head; all pointers lead into the work's memory. */
struct safetensors_file {
    struct safetensors_entry *entries; /* in the order of their data */
    int count;
    struct safetensors_word *words; /* in the order of the file */
    int word_count;
};

/* How many bytes of JSON follow the file's first 8, of a file of `size` bytes. Errors:
 * INVALID_HEADER (the file is shorter than it says, or no safetensors file). */
MUST_CHECK enum error_code safetensors_file_length(size_t *json_size, const char *first,
                                                   size_t size, struct error *error);

/* Reads the header, behind which there are `data_size` bytes. Every byte of the data belongs to
 * exactly one tensor, of a type that can be kept. Errors: INVALID_JSON INVALID_FIELD (no tensor,
 * among others) SIZE_MISMATCH SHAPE_MISMATCH UNSUPPORTED_DTYPE RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code safetensors_file_read(struct safetensors_file *file, const char *json,
                                                 size_t json_size, size_t data_size,
                                                 const struct work *work, struct error *error);

/* The value of a member of __metadata__; NULL: there is none. */
const char *safetensors_file_word(const struct safetensors_file *file, const char *name);

#endif
