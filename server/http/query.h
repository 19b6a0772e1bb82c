/* query: the arguments in a URL that mean something here. */
#ifndef SERVER_HTTP_QUERY_H
#define SERVER_HTTP_QUERY_H

#include "kernels/error.h"

#include <stdbool.h>
#include <stdint.h>

/* X(ID, name, whether its value is the name of a tensor). */
#define QUERY_TABLE(X)                                                                             \
    X(TENSOR, "tensor", true)                                                                      \
    X(INTO, "into", true)                                                                          \
    X(MOVE, "move", true)                                                                          \
    X(DATATYPE, "datatype", false)                                                                 \
    X(SHAPE, "shape", false)                                                                       \
    X(ROWS, "rows", false)                                                                         \
    X(TTL, "ttl", false)                                                                           \
    X(AFTER, "after", true)                                                                        \
    X(LIMIT, "limit", false)

enum query_key {
#define X(ID, NAME, IS_NAME) QUERY_##ID,
    QUERY_TABLE(X)
#undef X
        QUERY_COUNT
};

#define QUERY_BIT(ID) (1u << QUERY_##ID)

struct query {
    const char *value[QUERY_COUNT]; /* unescaped, in the text; NULL: absent */
};

/* Reads name=value&..., cutting `text` up; `taken` are the QUERY_BITs of the names that the route
 * takes. A name that is like none of them is ignored. Errors: INVALID_PARAMETER (a known name that
 * the route does not take, or one that was meant as a name that it takes or as a parameter of the
 * body; a name that comes twice; a tensor's name written with an escape, which a balancer would not
 * see through). */
MUST_CHECK enum error_code query_read(struct query *query, char *text, unsigned taken,
                                      struct error *error);

/* Says that a tensor's name is written with an escape: INVALID_PARAMETER. */
enum error_code query_escaped(struct error *error);

/* "3:10": two decimals. Errors: ROWS_OUT_OF_RANGE. */
MUST_CHECK enum error_code query_rows(const char *text, int64_t *from, int64_t *to,
                                      struct error *error);

#endif
