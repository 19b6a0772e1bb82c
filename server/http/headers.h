/* headers: the head of a request, its headers collected in one pass, and the checks that
 * libmicrohttpd leaves to the server: without them a proxy and the server could disagree about
 * where a request ends. */
#ifndef SERVER_HTTP_HEADERS_H
#define SERVER_HTTP_HEADERS_H

#include "kernels/error.h"
#include "proto/work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The headers that mean something here, and what it means when one comes in several lines:
 * LIST  the lines are one list, joined with commas (RFC 9110, 5.3)
 * ONCE  INVALID_HEADER
 * ALONE its value is "", which is none: a trace or an id that is said twice is not believed */
#define HEADER_TABLE(X)                                                                            \
    X(ACCEPT, "Accept", LIST)                                                                      \
    X(ACCEPT_ENCODING, "Accept-Encoding", LIST)                                                    \
    X(AUTHORIZATION, "Authorization", ONCE)                                                        \
    X(CONTENT_ENCODING, "Content-Encoding", LIST)                                                  \
    X(CONTENT_LENGTH, "Content-Length", ONCE)                                                      \
    X(CONTENT_TYPE, "Content-Type", ONCE)                                                          \
    X(EXPECT, "Expect", LIST)                                                                      \
    X(FORWARDED_FOR, "X-Forwarded-For", LIST)                                                      \
    X(HOST, "Host", ONCE)                                                                          \
    X(IDEMPOTENCY_KEY, "Idempotency-Key", ONCE)                                                    \
    X(IF_MATCH, "If-Match", LIST)                                                                  \
    X(IF_NONE_MATCH, "If-None-Match", LIST)                                                        \
    X(INFERENCE_HEADER_CONTENT_LENGTH, "Inference-Header-Content-Length", ONCE)                    \
    X(ORIGIN, "Origin", ONCE)                                                                      \
    X(REQUEST_ID, "X-Request-Id", ALONE)                                                           \
    X(SEC_FETCH_SITE, "Sec-Fetch-Site", ONCE)                                                      \
    X(TRACEPARENT, "traceparent", ALONE)                                                           \
    X(TRANSFER_ENCODING, "Transfer-Encoding", ONCE)                                                \
    X(UPDATE_POSITION, "Update-Position", ONCE)                                                    \
    X(UPDATE_SOURCE, "Update-Source", ONCE)

enum header {
#define X(ID, NAME, LINES) HEADER_##ID,
    HEADER_TABLE(X)
#undef X
        HEADER_COUNT
};

struct request_line {
    const char *method;
    const char *target;  /* decoded, without the query */
    const char *version; /* "HTTP/1.1" */
};

struct headers {
    const char *value[HEADER_COUNT]; /* without blanks around it; NULL: absent */
    uint8_t count[HEADER_COUNT];     /* how many lines, at most 255 */
    const char *fault;               /* what makes the whole head untrustworthy; NULL: nothing */
    struct memory *memory;           /* for values that are joined or cut; NULL: there is none */
};

/* Takes one line. Values are kept as pointers where they are whole: their bytes must live as long
 * as the headers. */
void headers_add(struct headers *headers, const char *name, size_t name_size, const char *value,
                 size_t value_size);

/* How the body comes. */
struct framing {
    int64_t length; /* 0: no body; -1: chunked */
    bool expects_continue;
};

/* All rules that hold for every request. Errors: INVALID_HEADER, EXPECTATION_FAILED, NOT_SUPPORTED
 * (a transfer coding or a method that we lack), PAYLOAD_TOO_LARGE (a length that is no 63-bit
 * number). When `is_sound` turns false, what follows on the connection cannot be trusted to be a
 * request: it must close after the answer. */
MUST_CHECK enum error_code headers_check(const struct headers *headers,
                                         const struct request_line *line, struct framing *framing,
                                         bool *is_sound, struct error *error);

#endif
