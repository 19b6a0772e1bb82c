/* method: the methods of HTTP that an endpoint may have. */
#ifndef SERVER_HTTP_METHOD_H
#define SERVER_HTTP_METHOD_H

/* X(NAME, a bit of its own). */
#define METHOD_TABLE(X)                                                                            \
    X(GET, 1)                                                                                      \
    X(HEAD, 2)                                                                                     \
    X(POST, 4)                                                                                     \
    X(PUT, 16)                                                                                     \
    X(PATCH, 32)                                                                                   \
    X(DELETE, 64)                                                                                  \
    X(OPTIONS, 8)

enum method {
#define X(NAME, BIT) METHOD_##NAME = BIT,
    METHOD_TABLE(X)
#undef X
};

enum method method_parse(const char *name);  /* 0: none that we know */
const char *method_name(enum method method); /* "other" for 0 */

/* "GET, HEAD, OPTIONS" into `text` of METHODS_TEXT_MAX bytes: those whose bits are set. */
enum { METHODS_TEXT_MAX = 64 };
void methods_print(unsigned set, char *text);

#endif
