/* route: the table of what can be asked for. */
#ifndef SERVER_HTTP_ROUTE_H
#define SERVER_HTTP_ROUTE_H

#include "kernels/error.h"
#include "kernels/op.h"
#include "server/access/access.h"
#include "server/http/reply.h"
#include "server/memory/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum method { METHOD_GET = 1, METHOD_HEAD = 2, METHOD_POST = 4, METHOD_OPTIONS = 8 };

struct headers;
struct server;
struct route_match;

/* What a handler works on: it fills `reply`. Its memory lives as long as the reply. */
struct call {
    struct server *server;
    const struct route_match *match;
    const struct headers *headers; /* of the request */
    struct op_name op;             /* set where the pattern has {op} */
    struct arena *arena;
    struct reply *reply; /* 200 and JSON unless the handler says otherwise */
};

struct route {
    unsigned methods; /* HEAD is GET, OPTIONS is answered for every route */
    enum route_kind kind;
    const char *pattern; /* {name} is one segment, [...] may be there */
    enum error_code (*answer)(struct call *call, struct error *error);
};

struct route_match {
    const struct route *route;
    const char *op, *version; /* segments of the URL; NULL where absent */
    size_t op_size, version_size;
    unsigned allowed; /* without a route: the methods that the path has */
};

enum method method_parse(const char *name); /* 0: none that we know */

/* Errors: NOT_FOUND, METHOD_NOT_ALLOWED (match->allowed says which are), MODEL_NOT_FOUND (an op or
 * a version that there is not). Pointers go into `url`. OPTIONS of a path
 * that there is has no route and no error. */
MUST_CHECK enum error_code route_find(struct route_match *match, struct op_name *op,
                                      const char *method, const char *url, struct error *error);

/* "GET, HEAD, OPTIONS" into `text` of 64 bytes. */
void route_print_allow(unsigned methods, char *text);

int route_count(void);
const struct route *route_at(int i);

#endif
