/* heap: memory that malloc keeps after a peak (libmicrohttpd's memory of connections, TLS sessions,
 * lines of the log, blocks) goes back to the system. */
#ifndef SERVER_MEMORY_HEAP_H
#define SERVER_MEMORY_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Used by one thread, for the memory of all. */
struct heap {
    int64_t kept_bytes; /* slack that a trim could not give back, or the least slack since */
};

/* Called before the first thread: makes heaps give back a large top by themselves, which
 * malloc_trim does not reach in a thread's heap. */
void heap_keep_little(void);

/* Whether there is enough slack, memory that is resident but not in use, for a trim to be worth
 * it. */
bool heap_is_slack(struct heap *heap);

/* Trims. Other threads' allocations wait, some microseconds for each free MiB: call it while no
 * request is under way. */
void heap_trim(struct heap *heap);

#endif
