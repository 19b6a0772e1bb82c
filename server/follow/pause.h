/* pause: waiting that the end of the process cuts short. SIGTERM and SIGINT are blocked and come
 * through a descriptor, so that every wait can watch it. */
#ifndef SERVER_FOLLOW_PAUSE_H
#define SERVER_FOLLOW_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct pause {
    int signals; /* a signalfd */
    uint64_t least_ns, most_ns;
    uint64_t next_ns; /* the longest that the next repeat waits */
    uint64_t random;  /* state of the jitter */
    bool is_over;     /* a signal came */
};

/* False, errno says why: there is no descriptor. */
bool pause_init(struct pause *pause, uint64_t least_ns, uint64_t most_ns);
void pause_release(struct pause *pause);

/* Whether the process shall end. */
bool pause_ends(struct pause *pause);

/* Until `fd` has one of `events` (of poll), at most `ns`. False: it has not, or the end came. */
bool pause_for(struct pause *pause, int fd, short events, uint64_t ns);

/* Before a repeat: between half of a bound and the bound, which doubles from least_ns to most_ns.
 * At least `floor_ns`, as a server's Retry-After says. False: the end came. */
bool pause_repeat(struct pause *pause, uint64_t floor_ns);

/* After a success: the next repeat waits least_ns again. */
void pause_reset(struct pause *pause);

#endif
