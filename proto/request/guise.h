/* guise: what a body looks like when it is not what its headers say: a form, a web page, another
 * file. For sentences only. Private to proto/request/. */
#ifndef PROTO_REQUEST_GUISE_H
#define PROTO_REQUEST_GUISE_H

#include "kernels/error.h"

#include <stddef.h>
#include <stdint.h>

/* "the body looks like <looks>; <advice>". Static. */
struct guise {
    enum { GUISE_NONE, GUISE_JSON, GUISE_PACKED, GUISE_OTHER } kind; /* NONE: like nothing known */
    const char *looks;                                               /* "a multipart form" */
    const char *advice;
};

/* Judges by the first few hundred bytes. */
struct guise guise_of(const char *body, size_t size);

/* Says more of a body whose JSON was refused (INVALID_JSON, and the sentence stands in `error`):
 * what it is instead, or which header says where its JSON ends. `header_length`: of the JSON, as
 * Inference-Header-Content-Length says it; -1: all of the body is JSON. Returns the code. */
enum error_code guise_explain(const char *body, size_t size, int64_t header_length,
                              struct error *error);

#endif
