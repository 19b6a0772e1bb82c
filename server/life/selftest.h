/* selftest: the examples of every operation (proto/answer/example.h), from JSON to JSON, on a
 * backend, and a kernel for every element type of each. A server whose backends pass is ready. */
#ifndef SERVER_LIFE_SELFTEST_H
#define SERVER_LIFE_SELFTEST_H

#include "kernels/backend.h"
#include "server/server.h"

/* Errors: INTERNAL, naming the operation, or what the operation itself said. */
MUST_CHECK enum error_code selftest(struct server *server, const struct backend *backend,
                                    int device, size_t memory_bytes, struct error *error);

#endif
