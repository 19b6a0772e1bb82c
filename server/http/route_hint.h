/* route_hint: the path or the operation that an unknown one was meant to be, for the sentence of
 * its error. */
#ifndef SERVER_HTTP_ROUTE_HINT_H
#define SERVER_HTTP_ROUTE_HINT_H

#include <stddef.h>

enum { ROUTE_HINT_MAX = 256 };

/* Writes what to ask for instead of a path that has no route, into `hint` of ROUTE_HINT_MAX bytes,
 * and returns it. */
const char *route_hint(const char *path, char *hint);

/* The operation whose name is like this one: near to it, or one name holds the other, whatever
 * their case and underscores. NULL: none is. */
const char *route_hint_operation(const char *name, size_t size);

#endif
