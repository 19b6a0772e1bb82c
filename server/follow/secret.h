/* secret: a password or token in a file of its own, so that no list of processes shows it. */
#ifndef SERVER_FOLLOW_SECRET_H
#define SERVER_FOLLOW_SECRET_H

#include <stdbool.h>
#include <stddef.h>

enum { SECRET_MAX = 512 };

/* The first line of `path`, without its end, into `secret` of SECRET_MAX bytes. False, `why`: there
 * is none, or it has a control character. */
bool secret_read(const char *path, char *secret, char *why, size_t why_size);

#endif
