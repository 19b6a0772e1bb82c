/* redis: questions to Redis and its answers. hiredis writes and reads its protocol, link.h moves
 * the bytes. */
#ifndef SERVER_FOLLOW_REDIS_H
#define SERVER_FOLLOW_REDIS_H

#include "server/follow/entry.h"
#include "server/follow/link.h"

#include <hiredis/hiredis.h>

struct redis {
    struct link link;
    redisReader *reader; /* NULL: not connected */
    const struct settings *settings;
    bool is_refused; /* what went wrong stays wrong if it is repeated */
    char why[600];   /* what went wrong last */
};

/* Connects, and says who we are. False, redis->why: it did not, and nothing is held. */
MUST_CHECK bool redis_open(struct redis *redis, const struct settings *settings,
                           struct pause *pause);
void redis_close(struct redis *redis); /* one that is not connected too */

/* Which entries of the stream Redis has. */
struct stretch {
    bool is_there, is_empty;
    bool was_cut;                /* entries were removed from it */
    struct entry_id first, last; /* the first that is there; the last that was ever added */
};
MUST_CHECK bool redis_look(struct redis *redis, struct stretch *stretch);

/* Entries after `after`, as many as a batch has, waiting for the first one for a while. *reply is
 * the caller's to free; NULL: none came. *entries is the array of them. */
MUST_CHECK bool redis_read(struct redis *redis, const struct entry_id *after, redisReply **reply,
                           const redisReply **entries);

#endif
