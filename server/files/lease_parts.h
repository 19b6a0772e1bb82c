/* lease_parts: what sessions (leases.c) and leases of names (lease.c) share. */
#ifndef SERVER_FILES_LEASE_PARTS_H
#define SERVER_FILES_LEASE_PARTS_H

#include "server/files/lease.h"

/* How often a lock is tried. It is held while a few bytes are read or a file takes its name; by a
 * process that stands still, longer. */
enum { LOCK_TRIES = 500 };

/* Sets TENSOR_FILE_FAILED by errno, and returns it. */
enum error_code lease_failed(const char *what, const char *name, struct error *error);

/* Opens and locks a file that still has its name then; a close unlocks it. -1 with errno:
 * EWOULDBLOCK (another has the lock), or what open says. */
int lease_open_file(int folder, const char *name, int flags, int tries);

/* The file says `text`, and nothing else. */
bool lease_write_file(int fd, const char *text);

/* The name of a session of this process, into NODE_ID_MAX + 1 bytes. */
void lease_print_id(const struct leases *leases, uint64_t session, char *id);

#endif
