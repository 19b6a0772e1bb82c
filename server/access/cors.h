/* cors: which web pages may call the server from a browser. */
#ifndef SERVER_ACCESS_CORS_H
#define SERVER_ACCESS_CORS_H

#include "kernels/error.h"

#include <stdbool.h>

/* What a page of these origins may read of an answer, and send with a request. */
#define CORS_EXPOSED                                                                               \
    "ETag, Error-Code, Idempotent-Replayed, Inference-Header-Content-Length, Retry-After, "        \
    "Server-Timing, X-Request-Id"
#define CORS_ALLOWED                                                                               \
    "Accept, Authorization, Content-Encoding, Content-Type, Idempotency-Key, If-Match, "           \
    "If-None-Match, Inference-Header-Content-Length, X-Request-Id, traceparent, tracestate"
#define CORS_MAX_AGE_SECONDS 7200

/* A list of origins with commas ("https://app.example, http://localhost:3000"), or "*". Errors:
 * INVALID_PARAMETER. */
MUST_CHECK enum error_code cors_check(const char *origins, struct error *error);

/* What Access-Control-Allow-Origin says to `origin`: "*", `origin` itself, or NULL when its pages
 * may not call, or no origin was given. */
const char *cors_allow(const char *origins, const char *origin);

/* Whether the answer depends on the origin, which caches must be told (Vary). */
bool cors_varies(const char *origins);

#endif
