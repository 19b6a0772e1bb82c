/* tensor_read: a tensor that is to be kept, from the body that brings it. */
#ifndef PROTO_REQUEST_TENSOR_READ_H
#define PROTO_REQUEST_TENSOR_READ_H

#include "proto/request/request.h"

enum tensor_body { TENSOR_BODY_RAW, TENSOR_BODY_JSON, TENSOR_BODY_SAFETENSORS };

/* What the body is: raw elements where the URL says their type and shape; JSON, with binary
 * behind it or not, where its type says JSON or a form, or there is a header length; else a
 * safetensors file. */
enum tensor_body tensor_body_of(const struct head *head, const char *content_type, bool said);

/* Reads it into `t`: its type, shape and elements, which lie in the body or in memory from `work`,
 * aligned or not; NULL: it has none, which means zeros. Its bytes can be counted. For raw elements
 * `t` says type and shape already. `inner` are the decompressed bytes. Errors: those of
 * request_decode, INVALID_FIELD (none or two tensors in a file), UNSUPPORTED_DTYPE (BYTES). */
MUST_CHECK enum error_code tensor_read(struct tensor *t, enum tensor_body kind,
                                       const struct head *head, const struct request_rules *rules,
                                       const struct work *work, struct span *inner,
                                       struct error *error);

/* Reads {"ttl": "1h"} or {"ttl": null}: *ttl is in memory from `work`, NULL for null. Errors:
 * INVALID_JSON INVALID_FIELD RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code tensor_patch_read(const char **ttl, const char *body, size_t size,
                                             const struct work *work, struct error *error);

/* A type and a shape as a URL says them: "FP32", "1000,64" ("" is rank 0). Errors:
 * UNSUPPORTED_DTYPE INVALID_PARAMETER. */
MUST_CHECK enum error_code tensor_said_parse(struct tensor *t, const char *datatype,
                                             const char *shape, struct error *error);

#endif
