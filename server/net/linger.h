/* linger: connections that are closed while their client still sends. Closing them at once would
 * reset the connection, and the client might never read its answer; so what it sends is read and
 * thrown away for a while, within bounds, by one thread. */
#ifndef SERVER_NET_LINGER_H
#define SERVER_NET_LINGER_H

#include "kernels/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { LINGER_MAX = 1024 };

struct lingering {
    int fd;
    uint64_t until_ns;
    uint64_t left_bytes;
};

struct lingerers {
    pthread_t thread;
    pthread_mutex_t lock;
    int wake; /* eventfd */
    bool stopping;
    struct lingering list[LINGER_MAX];
    int count;
};

MUST_CHECK enum error_code linger_init(struct lingerers *all, struct error *error);
void linger_release(struct lingerers *all);

/* Takes over `fd`, to which everything has been written. When too many linger, the one that has
 * lingered longest is closed. */
void linger_take(struct lingerers *all, int fd);

/* How many linger. */
int linger_count(struct lingerers *all);

#endif
