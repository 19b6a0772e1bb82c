/* http_headers: a request's headers, collected in one pass, and the checks that the HTTP library
 * leaves to us: without them a proxy and we could disagree about where a request ends. */
#ifndef SERVER_HTTP_HEADERS_H
#define SERVER_HTTP_HEADERS_H

#include "kernels/error.h"

#include <stdbool.h>
#include <stdint.h>

/* The headers that mean something here. */
#define HEADER_TABLE(X)                                                                            \
    X(ACCEPT, "Accept")                                                                            \
    X(ACCEPT_ENCODING, "Accept-Encoding")                                                          \
    X(AUTHORIZATION, "Authorization")                                                              \
    X(CONTENT_ENCODING, "Content-Encoding")                                                        \
    X(CONTENT_LENGTH, "Content-Length")                                                            \
    X(CONTENT_TYPE, "Content-Type")                                                                \
    X(EXPECT, "Expect")                                                                            \
    X(FORWARDED_FOR, "X-Forwarded-For")                                                            \
    X(HOST, "Host")                                                                                \
    X(IF_NONE_MATCH, "If-None-Match")                                                              \
    X(INFERENCE_HEADER_CONTENT_LENGTH, "Inference-Header-Content-Length")                          \
    X(ORIGIN, "Origin")                                                                            \
    X(REQUEST_ID, "X-Request-Id")                                                                  \
    X(TRACEPARENT, "traceparent")                                                                  \
    X(TRANSFER_ENCODING, "Transfer-Encoding")

enum header {
#define X(ID, NAME) HEADER_##ID,
    HEADER_TABLE(X)
#undef X
        HEADER_COUNT
};

struct headers {
    const char *value[HEADER_COUNT]; /* the first one; NULL: absent */
    uint8_t count[HEADER_COUNT];     /* how often it came, at most 255 */
    bool blank_in_name;
};

/* Values are kept as pointers. A header without a value has "". */
void headers_add(struct headers *headers, const char *name, const char *value);

/* How the body comes. */
struct framing {
    int64_t length; /* 0: no body; -1: chunked */
    bool expects_continue;
};

/* All rules about headers that hold for every request. `version` is "HTTP/1.1"; `url` is decoded.
 * Errors: INVALID_HEADER, EXPECTATION_FAILED, NOT_SUPPORTED (a transfer coding that we lack),
 * PAYLOAD_TOO_LARGE (a length that is no 63-bit number). When `is_sound` turns false, what follows
 * on the connection cannot be trusted to be a request: it must close after the answer. */
MUST_CHECK enum error_code headers_check(const struct headers *headers, const char *version,
                                         const char *url, struct framing *framing, bool *is_sound,
                                         struct error *error);

#endif
