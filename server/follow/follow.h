/* follow: the loop that keeps one server abreast of one stream. It keeps nothing of its own: where
 * it goes on is what the server says, so it may die at any moment.
 *
 *   ASK     where the server stands. At the start, whenever the connection to it broke, and when
 *           the stream is silent: it may be another process by then, without its tensors, or may
 *           have applied an entry whose answer was lost.
 *   LOOK    whether the stream still has what comes after that. Entries that were removed, or
 *           that Redis lost, end the follower: the tables could not be equal any more.
 *   READ    the next entries, waiting for them.
 *   POST    each, in order, one at a time. 429, 503, 504 and 507 are repeated until they pass;
 *           any other 4xx is logged and passed over, on every server the same; anything else ends
 *           the follower.
 *
 * A client gone, deadlines: not known here. Redis or the server gone: asked again, with a pause
 * that doubles. SIGTERM: the request that is under way is dropped, to be repeated by whoever comes
 * next. Death at any moment: the same. */
#ifndef SERVER_FOLLOW_FOLLOW_H
#define SERVER_FOLLOW_FOLLOW_H

#include "server/follow/counters.h"
#include "server/follow/redis.h"
#include "server/follow/target.h"
#include "server/log/log.h"

struct follower {
    const struct settings *settings;
    struct log *log;
    struct counters *counters;
    struct pause *pause;
    struct target target;
    struct redis redis;
    struct entry_id at;    /* the last entry that is done with */
    struct entry_id acked; /* the last one that the server is known to have */
    bool was_ever_asked;   /* so acked is known */
    bool was_asked;        /* the server, on the connection that there is */
    bool was_looked;       /* at the stream, since then */
    uint64_t read_ns;      /* when it was read last */
};

/* True: a signal ended it. False: it cannot go on, and the log says why. */
bool follow(struct follower *follower);

#endif
