/* kept: requests about kept tensors in one line each, for cmocka programs. In a body a ' stands for
 * a ". */
#ifndef TESTS_SUPPORT_HTTP_KEPT_H
#define TESTS_SUPPORT_HTTP_KEPT_H

#include "tests/support/http/fixture.h"

extern const char kept_json_type[]; /* a header */

/* A request with that header, NULL: none, and that body, NULL: none; libcurl says that it is a
 * form, which is taken for JSON. The caller releases the answer. */
struct answer kept_call(struct fixture *f, const char *method, const char *path, const char *header,
                        const char *body);

/* POST /v2/models/{target}. */
struct answer kept_infer(struct fixture *f, const char *target, const char *header,
                         const char *body);

/* Sends a request that must be answered with that status. */
void kept_expect(struct fixture *f, int status, const char *method, const char *path,
                 const char *header, const char *body);

/* Stores a tensor, from JSON, which must work. */
void kept_put(struct fixture *f, const char *name, const char *json);

/* Drops a tensor, if there is one of that name. */
void kept_drop(struct fixture *f, const char *name);

/* Checks that a tensor's elements are these, as JSON writes them. */
void kept_holds(struct fixture *f, const char *name, const char *elements);

/* A tensor's tag, into `etag` of 128 bytes. */
void kept_etag(struct fixture *f, const char *name, char *etag);

#endif
