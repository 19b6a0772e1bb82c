/* head: what the HTTP headers of an infer request say about its body and about the answer that is
 * wanted. */
#ifndef PROTO_REQUEST_HEAD_H
#define PROTO_REQUEST_HEAD_H

#include "kernels/error.h"

#include <stdbool.h>
#include <stdint.h>

enum coding { CODING_IDENTITY, CODING_GZIP, CODING_DEFLATE };
enum encoding { ENCODING_JSON, ENCODING_BINARY, ENCODING_SAFETENSORS, ENCODING_COUNT };

struct head {
    enum encoding
        body; /* JSON (no H), BINARY (JSON in [0, header_length), then tensors), SAFETENSORS */
    int64_t header_length; /* H of the decompressed body; -1 when absent */
    enum coding coding;
    enum encoding accepted; /* first of the known types in Accept; ENCODING_COUNT: it names none */
    const char *safetensors_type; /* static: the safetensors media type to answer with */
    bool problem_json;            /* Accept lists application/problem+json */
    const char *tensor, *into;    /* references in the URL, which lives as long; NULL: none. For the
                                     caller to set */
};

/* Header values as received, NULL where absent. They are read, not kept.
 * Errors: INVALID_HEADER (H is zero or not all digits), UNSUPPORTED_ENCODING (Content-Encoding).
 * problem_json is set even then, so that the error can be said in the form that was asked for. */
MUST_CHECK enum error_code head_parse(struct head *head, const char *content_type,
                                      const char *header_length, const char *content_encoding,
                                      const char *accept, struct error *error);

#endif
