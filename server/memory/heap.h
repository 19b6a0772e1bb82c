/* heap: what malloc keeps of a peak (libmicrohttpd's memory of connections, TLS sessions, lines of
 * the log, blocks) goes back to the system. glibc by itself gives back the top of a heap only. */
#ifndef SERVER_MEMORY_HEAP_H
#define SERVER_MEMORY_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Of one thread. */
struct heap {
    int64_t kept_bytes; /* what a trim could not give back, or the least since */
};

/* Whether so much is resident and not in use that a trim is worth it. */
bool heap_is_slack(struct heap *heap);

/* Holds up whoever allocates, some microseconds for each MiB that is free: for moments in which
 * nothing is under way. */
void heap_trim(struct heap *heap);

#endif
