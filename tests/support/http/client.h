/* client: requests through libcurl, the way well-behaved programs send them. One client keeps one
 * connection alive. */
#ifndef TESTS_SUPPORT_HTTP_CLIENT_H
#define TESTS_SUPPORT_HTTP_CLIENT_H

#include "kernels/error.h"
#include "tests/support/http/answer.h"
#include "tests/support/http/body.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

enum { CALL_HEADERS_MAX = 8 };

/* Paths of PEM files. */
struct call_tls {
    const char *authority;         /* who must have signed the server's certificate */
    const char *certificate, *key; /* the client's; NULL: none */
};

struct call {
    const char *method; /* NULL: GET without a body, POST with one */
    const char *path;
    const char *headers[CALL_HEADERS_MAX]; /* "Name: value"; NULL after the last */
    const void *body;                      /* NULL: none */
    size_t size;
    bool chunked;
    const struct call_tls *tls; /* NULL: plain HTTP */
};

struct client {
    CURL *curl;
    int port;
};

MUST_CHECK bool client_init(struct client *c, int port);
void client_release(struct client *c);

/* False when no answer came. The caller releases the answer. */
MUST_CHECK bool client_call(struct client *c, const struct call *call, struct answer *a);

/* POST /v2/models/{op}/infer with JSON, sent as `curl -d` does: with a form's content type. */
MUST_CHECK bool client_json(struct client *c, const char *op, const char *json, struct answer *a);

/* The same with JSON and tensors. */
MUST_CHECK bool client_binary(struct client *c, const char *op, const struct body *body,
                              struct answer *a);

/* How many connections the last call had to open: 0 when it used the one kept alive. */
long client_connects(struct client *c);

/* For curl_multi: prepares a handle to make this call and to fill `a`, until client_prepared_end
 * completes it. */
struct prepared;
struct prepared *client_prepare(CURL *curl, int port, const struct call *call, struct answer *a);
bool client_prepared_end(struct prepared *p);

#endif
