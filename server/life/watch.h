/* watch: what must happen as time passes: jobs past their deadline and jobs whose client has left
 * are ended, clients that are too slow are cut off, and idle memory goes back to the system. */
#ifndef SERVER_LIFE_WATCH_H
#define SERVER_LIFE_WATCH_H

#include "server/memory/heap.h"
#include "server/server.h"

struct watch {
    struct server *server;
    uint64_t looked_ns, reaped_ns, trimmed_ns; /* when last */
    struct heap heap;
    bool is_slack; /* a trim of it waits for a moment without requests */
    int tick_ms;   /* until watch_tick is to be called again */
};

void watch_init(struct watch *watch, struct server *server);

/* Called about every tick_ms, by one thread. */
void watch_tick(struct watch *watch);

/* Ends every job that is queued, and tells those that run to end: DRAINING. */
void watch_end_all(struct server *server);

#endif
