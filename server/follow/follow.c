#include "server/follow/follow.h"

#include "server/base/clock.h"

#include <string.h>

/* Away from the stream for so long, it looks anew what was removed. */
#define LOOK_AGAIN_NS (10 * SEC)

static void say(struct follower *f, enum log_level level, const char *message, const char *why)
{
    struct log_line line;
    char at[ENTRY_ID_MAX];
    if (!log_wants(f->log, level))
        return;
    entry_id_print(&f->at, at);
    log_begin(&line, level, message);
    log_string(&line, "stream", f->settings->stream);
    log_string(&line, "position", at);
    if (why)
        log_string(&line, "reason", why);
    log_end(&line, f->log);
}

static bool stop(struct follower *f, const char *why)
{
    say(f, LOG_ERROR, "stopped: going on would lose entries", why);
    return false;
}

/* ------------------------------------------------------------------------------------------ ask */

/* Goes on where the server stands. An entry that was passed over is posted again only if the server
 * went back since it was asked last. */
static void stand_at(struct follower *f, const struct entry_id *stands)
{
    int order = entry_id_compare(stands, &f->acked);
    bool is_news = !f->was_ever_asked || order != 0;
    if (f->was_ever_asked && order < 0)
        f->counters->went_back_total++;
    if (is_news) {
        f->at = f->acked = *stands;
        f->was_looked = false;
        f->counters->is_abreast = false;
        f->counters->position_ms = stands->ms;
        f->counters->abreast_ms = stands->ms ? stands->ms : clock_wall_ms();
    }
    f->was_ever_asked = f->was_asked = true;
    say(f, is_news ? LOG_INFO : LOG_DEBUG, "the server stands here", NULL);
}

static bool ask(struct follower *f)
{
    struct entry_id stands;
    enum outcome outcome = target_ask(&f->target, &stands);
    f->counters->server_up = outcome == OUTCOME_DONE;
    if (pause_ends(f->pause))
        return true;
    switch (outcome) {
    case OUTCOME_DONE:
    case OUTCOME_REPEATED:
        stand_at(f, &stands);
        return true;
    case OUTCOME_LATER:
    case OUTCOME_BROKEN:
        f->counters->is_abreast = false;
        say(f, LOG_WARN, "the server does not answer", f->target.why);
        pause_repeat(f->pause, f->target.wait_ns);
        return true;
    case OUTCOME_REJECTED:
    case OUTCOME_STOP:
        break;
    }
    return stop(f, f->target.why);
}

/* ---------------------------------------------------------------------------------------- redis */

static bool redis_failed(struct follower *f)
{
    f->counters->redis_up = 0;
    f->counters->is_abreast = false;
    bool is_over = pause_ends(f->pause), is_refused = f->redis.is_refused;
    redis_close(&f->redis);
    f->was_looked = false;
    if (is_over)
        return true;
    if (is_refused)
        return stop(f, f->redis.why);
    say(f, LOG_WARN, "Redis does not answer", f->redis.why);
    pause_repeat(f->pause, 0);
    return true;
}

static bool open_redis(struct follower *f)
{
    if (!redis_open(&f->redis, f->settings, f->pause))
        return redis_failed(f);
    f->counters->redis_connects_total++;
    return true;
}

/* Why the stream cannot be followed from f->at on; NULL: it can. */
static const char *missing(const struct follower *f, const struct stretch *s)
{
    static const struct entry_id none = {0, 0};
    const struct entry_id *last = s->is_there ? &s->last : &none;
    bool is_behind = entry_id_compare(&f->at, last) < 0;
    if (entry_id_compare(last, &f->at) < 0)
        return "the stream ends before what the server has: Redis lost entries, or it is another "
               "stream";
    if (f->settings->removed == REMOVED_STOP && is_behind && s->was_cut &&
        (s->is_empty || entry_id_compare(&f->at, &s->first) < 0))
        return "entries that the server lacks were removed from the stream (setting removed)";
    return NULL;
}

static bool look(struct follower *f)
{
    struct stretch stretch;
    if (!redis_look(&f->redis, &stretch))
        return redis_failed(f);
    const char *why = missing(f, &stretch);
    if (why)
        return stop(f, why);
    f->counters->redis_up = 1;
    f->was_looked = true;
    f->read_ns = clock_ns();
    return true;
}

/* ----------------------------------------------------------------------------------------- post */

static void pass(struct follower *f, const struct entry_id *id)
{
    f->at = *id;
    f->counters->position_ms = f->counters->abreast_ms = id->ms;
}

static void reject(struct follower *f, const struct entry_id *id, const char *why)
{
    struct log_line line;
    char text[ENTRY_ID_MAX];
    entry_id_print(id, text);
    log_begin(&line, LOG_ERROR, "an entry is passed over");
    log_string(&line, "stream", f->settings->stream);
    log_string(&line, "entry", text);
    log_string(&line, "reason", why);
    log_end(&line, f->log);
    f->counters->rejected_total++;
    pass(f, id);
}

/* Counts an entry that the server has, and passes on to the next. */
static void acknowledge(struct follower *f, const struct entry_id *id, _Atomic uint64_t *counter)
{
    ++*counter;
    f->acked = *id;
    pause_reset(f->pause);
    pass(f, id);
}

/* Posts an entry until the server is done with it. False: the follower stops. When the server must
 * be asked first, or the process shall end, the result is true and f->at stays. */
static bool post(struct follower *f, const struct entry *entry)
{
    while (!pause_ends(f->pause)) {
        enum outcome outcome = target_post(&f->target, entry);
        f->counters->server_up = outcome != OUTCOME_BROKEN;
        switch (outcome) {
        case OUTCOME_DONE:
            acknowledge(f, &entry->id, &f->counters->applied_total);
            return true;
        case OUTCOME_REPEATED:
            acknowledge(f, &entry->id, &f->counters->repeated_total);
            return true;
        case OUTCOME_REJECTED:
            reject(f, &entry->id, f->target.why);
            return true;
        case OUTCOME_LATER:
            say(f, LOG_WARN, "an entry is repeated", f->target.why);
            f->counters->retries_total++;
            pause_repeat(f->pause, f->target.wait_ns);
            break;
        case OUTCOME_BROKEN:
            f->was_asked = false;
            return true;
        case OUTCOME_STOP:
            return stop(f, f->target.why);
        }
    }
    return true;
}

static bool post_all(struct follower *f, const redisReply *entries)
{
    for (size_t i = 0; i < entries->elements && f->was_asked && !pause_ends(f->pause); i++) {
        struct entry entry;
        bool has_id;
        const char *fault = entry_read(&entry, entries->element[i], &has_id);
        if (!has_id)
            return stop(f, fault);
        if (fault)
            reject(f, &entry.id, fault);
        else if (!post(f, &entry))
            return false;
    }
    return true;
}

/* Notes that all entries that were added until `read_ms` are done with. */
static void come_abreast(struct follower *f, uint64_t read_ms)
{
    f->counters->abreast_ms = read_ms;
    f->counters->is_abreast = true;
}

static bool read_and_post(struct follower *f)
{
    redisReply *reply;
    const redisReply *entries;
    if (!redis_read(&f->redis, &f->at, &reply, &entries))
        return redis_failed(f);
    uint64_t read_ms = clock_wall_ms();
    f->read_ns = clock_ns();
    pause_reset(f->pause);
    if (!reply) {
        come_abreast(f, read_ms);
        f->was_asked = false;
        return true;
    }
    size_t count = entries->elements;
    f->counters->is_abreast = false;
    bool goes_on = post_all(f, entries);
    if (goes_on && f->was_asked && count < f->settings->batch)
        come_abreast(f, read_ms);
    freeReplyObject(reply);
    return goes_on;
}

/* The next thing that is to be done. */
static bool step(struct follower *f)
{
    if (!f->was_asked)
        return ask(f);
    if (!f->redis.reader)
        return open_redis(f);
    if (!f->was_looked || clock_ns() - f->read_ns > LOOK_AGAIN_NS)
        return look(f);
    return read_and_post(f);
}

bool follow(struct follower *f)
{
    bool goes_on = true;
    while (goes_on && !pause_ends(f->pause))
        goes_on = step(f);
    redis_close(&f->redis);
    return goes_on;
}
