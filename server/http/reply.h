/* reply: an answer before it is HTTP. */
#ifndef SERVER_HTTP_REPLY_H
#define SERVER_HTTP_REPLY_H

#include "kernels/error.h"

#include <stddef.h>
#include <stdint.h>

/* A header of one answer. */
struct reply_header {
    const char *name; /* NULL: the list ends */
    const char *value;
};

struct reply {
    int status;
    const char *content_type; /* static; NULL: no body */
    const char *data;         /* static, or lives as long as its request */
    size_t size;
    int64_t header_length;              /* Inference-Header-Content-Length; -1: none */
    enum error_code error;              /* Error-Code; ERROR_NONE: none */
    unsigned allow;                     /* methods for Allow; 0: none */
    int retry_after;                    /* seconds; 0: none */
    char etag[64];                      /* of the resident that it is about; "": none */
    const struct reply_header *headers; /* further ones; as long as its request; NULL: none */
};

#endif
