/* query: what a URL says after its question mark, as far as it means something here. */
#ifndef SERVER_HTTP_QUERY_H
#define SERVER_HTTP_QUERY_H

#include "kernels/error.h"

#include <stdbool.h>
#include <stdint.h>

#define QUERY_TABLE(X)                                                                             \
    X(TENSOR, "tensor")                                                                            \
    X(INTO, "into")                                                                                \
    X(MOVE, "move")                                                                                \
    X(DATATYPE, "datatype")                                                                        \
    X(SHAPE, "shape")                                                                              \
    X(ROWS, "rows")                                                                                \
    X(TTL, "ttl")                                                                                  \
    X(AFTER, "after")                                                                              \
    X(LIMIT, "limit")

enum query_key {
#define X(ID, NAME) QUERY_##ID,
    QUERY_TABLE(X)
#undef X
        QUERY_COUNT
};

struct query {
    const char *value[QUERY_COUNT]; /* unescaped, of the first one; NULL: absent */
    uint8_t count[QUERY_COUNT];
    bool is_escaped; /* a name in the URL was written with '%': a balancer would not see it */
};

/* Values are kept as pointers. */
void query_add(struct query *query, const char *name, const char *value);

/* Whether each is there once at most and no name is escaped. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code query_check(const struct query *query, struct error *error);

/* "3:10": two decimals. Errors: ROWS_OUT_OF_RANGE. */
MUST_CHECK enum error_code query_rows(const char *text, int64_t *from, int64_t *to,
                                      struct error *error);

#endif
