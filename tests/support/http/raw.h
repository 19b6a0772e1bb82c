/* raw: HTTP by hand over a socket, for what no client library would send. */
#ifndef TESTS_SUPPORT_HTTP_RAW_H
#define TESTS_SUPPORT_HTTP_RAW_H

#include "kernels/error.h"
#include "tests/support/http/answer.h"

#include <stdbool.h>
#include <stddef.h>

/* A connection and what was read of it but not yet taken. */
struct raw {
    int fd; /* -1: closed by us */
    char *buffer;
    size_t size, capacity;
    bool ended; /* by the server; running out of patience is not the end */
};

/* Connects to a port of 127.0.0.1, or to a Unix socket. Sends and receives give up after a
 * minute. */
MUST_CHECK bool raw_open(struct raw *r, int port);
MUST_CHECK bool raw_open_unix(struct raw *r, const char *path);
void raw_close(struct raw *r);

/* Closes with a reset instead of the polite end. */
void raw_reset(struct raw *r);

/* Whether all of it was sent. A peer that closes early makes it false, never a signal. */
bool raw_send(struct raw *r, const void *bytes, size_t size);
bool raw_puts(struct raw *r, const char *text);
bool raw_printf(struct raw *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Shuts our sending side. */
void raw_finish(struct raw *r);

/* Reads one answer: its head, then Content-Length bytes, or all to the end where there is no such
 * header. Interim answers (1xx) and 204 and 304 have no body. `bodyless`: the answer to a HEAD. */
MUST_CHECK bool raw_read(struct raw *r, struct answer *a, bool bodyless);

/* Waits until the server closes. True when nothing more came before that. */
bool raw_ended(struct raw *r);

#endif
