/* keeper: what the server does with the files of residents by itself: a snapshot of what was
 * written snapshot_interval ago, the end of those whose lease is over, and at the end of the drain
 * a snapshot of all that is not saved. Each is a job like a client's, one at a time. */
#ifndef SERVER_LIFE_KEEPER_H
#define SERVER_LIFE_KEEPER_H

#include "server/server.h"

struct keeper {
    struct server *server;
    struct block *home;  /* of the job that is under way; NULL: none */
    atomic_bool is_done; /* it came back */
    uint64_t looked_ns;
};

void keeper_init(struct keeper *keeper, struct server *server);

/* Called about ten times a second, while the server is ready. */
void keeper_tick(struct keeper *keeper, uint64_t now_ns);

/* When no request is left: waits for the job under way, then saves all, telling `alive` before
 * each. False: something is not saved, as the log says. */
bool keeper_finish(struct keeper *keeper, void (*alive)(void *context), void *context);

#endif
