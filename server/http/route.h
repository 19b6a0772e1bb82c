/* route: the table of endpoints. */
#ifndef SERVER_HTTP_ROUTE_H
#define SERVER_HTTP_ROUTE_H

#include "kernels/error.h"
#include "kernels/op.h"
#include "proto/text.h"
#include "server/access/access.h"
#include "server/http/method.h"
#include "server/http/query.h"
#include "server/http/reply.h"
#include "server/jobs/tensor_job.h"
#include "server/memory/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* The names that a pattern may give to a segment of the path: {op}. X(ID, name). */
#define SEGMENT_TABLE(X)                                                                           \
    X(OP, "op")                                                                                    \
    X(VERSION, "version")                                                                          \
    X(REGION, "region")                                                                            \
    X(MODEL, "model")                                                                              \
    X(TENSOR, "tensor")

enum segment_name {
#define X(ID, NAME) SEGMENT_##ID,
    SEGMENT_TABLE(X)
#undef X
        SEGMENT_COUNT
};

struct headers;
struct server;
struct route_match;

/* What a handler works on. */
struct call {
    struct server *server;
    const struct route_match *match;
    const struct headers *headers; /* of the request */
    const struct query *query;
    const struct rights *rights; /* to residents; NULL: all */
    const char *token;           /* its name; "" without one */
    const char *forbids_use;     /* why the visitor may use none; NULL: it may */
    struct arena *arena;         /* memory that lives as long as the reply */
    struct reply *reply;         /* 200 and JSON unless the handler says otherwise */
    struct error *error;         /* the answer, once its code is set */
};

/* Answers a call: prints into `text`, or points reply->data to what lives as long as the reply, or
 * sets the error. It is called again with more memory when the text was cut. */
typedef void route_answer(struct call *call, struct text *text);

/* An endpoint is a row of route.c and its function. */
struct route {
    enum method method; /* GET is HEAD too; OPTIONS is answered for every path */
    enum route_kind kind;
    const char *pattern;  /* {name} is one segment, [...] may be there */
    route_answer *answer; /* NULL: ROUTE_INFER, ROUTE_TENSOR, a job does it */
    enum verb verb;       /* of ROUTE_TENSOR */
    unsigned query;       /* QUERY_BITs: what its URL may say after the question mark */
    /* for /openapi.json */
    const char *id, *summary;
    const char *response; /* one of openapi_components.c; NULL: there are only errors */
    bool may_be_503;      /* says with the same answer that the server is not ready */
};

struct segment {
    const char *text; /* in the URL; NULL: the path has no such segment */
    size_t size;
};

struct route_match {
    const struct route *route;
    struct segment segments[SEGMENT_COUNT];
    struct op_name op_name; /* the operation that {op} names */
    unsigned allowed;       /* without a route: the methods that the path has */
};

/* Finds the route of a method and a path. Segments point into `url`. OPTIONS of a path that exists
 * has no route and no error. Errors: NOT_FOUND, METHOD_NOT_ALLOWED (match->allowed says which are),
 * MODEL_NOT_FOUND (an operation or a version that does not exist), INVALID_PARAMETER (no tensor can
 * have that name). */
MUST_CHECK enum error_code route_find(struct route_match *match, const char *method,
                                      const char *url, struct error *error);

/* Calls the handler of the route that was found. Errors, in call->error: the handler's,
 * RESOURCE_EXHAUSTED. */
void route_call(struct call *call);

/* Copies the name at {tensor} into TENSOR_NAME_MAX + 1 bytes. */
void route_tensor(const struct route_match *match, char *name);

/* Whether a path has a route, whatever its method and the names in it. */
bool route_exists(const char *url);

int route_count(void);
const struct route *route_at(int i);

#endif
