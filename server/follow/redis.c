#include "server/follow/redis.h"

#include "server/follow/secret.h"

#include <string.h>

/* A question waits at the server for entries so long at most. */
#define BLOCK_MS "2000"
#define BLOCK_NS (2 * SEC)
enum { CHUNK = 64 * 1024 };

static bool fail(struct redis *redis, const char *what, const char *why)
{
    snprintf(redis->why, sizeof redis->why, "%s%s%.500s", what, *what ? ": " : "", why);
    return false;
}

static redisReply *next_reply(struct redis *redis, uint64_t wait_ns)
{
    char chunk[CHUNK];
    void *reply = NULL;
    while (redisReaderGetReply(redis->reader, &reply) == REDIS_OK && !reply) {
        size_t size = link_receive(&redis->link, chunk, sizeof chunk, wait_ns);
        if (size == 0) {
            fail(redis, "", redis->link.why);
            return NULL;
        }
        if (redisReaderFeed(redis->reader, chunk, size) != REDIS_OK)
            break;
    }
    if (!reply)
        fail(redis, "not Redis' protocol", redis->reader->errstr);
    return reply;
}

/* Whether an error goes away by itself. */
static bool is_passing(const char *error)
{
    static const char *const begins[] = {"LOADING",  "BUSY",        "MASTERDOWN",
                                         "TRYAGAIN", "CLUSTERDOWN", "ERR max number of clients"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(error, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* The answer to a command. NULL: none came, or it is an error; redis->why says so. */
static redisReply *ask(struct redis *redis, int count, const char **words, uint64_t wait_ns)
{
    char *command = NULL;
    int size = redisFormatCommandArgv(&command, count, words, NULL);
    redis->is_refused = false;
    if (size < 0) {
        fail(redis, "", "out of memory");
        return NULL;
    }
    bool is_sent = link_send(&redis->link, command, (size_t)size, redis->settings->redis_timeout);
    redisFreeCommand(command);
    if (!is_sent) {
        fail(redis, "", redis->link.why);
        return NULL;
    }
    redisReply *reply = next_reply(redis, redis->settings->redis_timeout + wait_ns);
    if (!reply || reply->type != REDIS_REPLY_ERROR)
        return reply;
    redis->is_refused = !is_passing(reply->str);
    fail(redis, words[0], reply->str);
    freeReplyObject(reply);
    return NULL;
}

static bool authenticate(struct redis *redis)
{
    const struct settings *s = redis->settings;
    char password[SECRET_MAX];
    const char *words[3] = {"AUTH"};
    int count = 1;
    if (!*s->redis_password_file)
        return true;
    if (!secret_read(s->redis_password_file, password, redis->why, sizeof redis->why)) {
        redis->is_refused = true;
        return false;
    }
    if (*s->redis_user)
        words[count++] = s->redis_user;
    words[count++] = password;
    redisReply *reply = ask(redis, count, words, 0);
    freeReplyObject(reply);
    return reply != NULL;
}

bool redis_open(struct redis *redis, const struct settings *settings, struct pause *pause)
{
    *redis = (struct redis){.settings = settings};
    if (!link_open(&redis->link, settings, pause))
        return fail(redis, "", redis->link.why);
    redis->reader = redisReaderCreate();
    if (redis->reader && authenticate(redis))
        return true;
    if (!redis->reader)
        fail(redis, "", "out of memory");
    redis_close(redis);
    return false;
}

void redis_close(struct redis *redis)
{
    if (redis->link.curl)
        link_close(&redis->link);
    if (redis->reader)
        redisReaderFree(redis->reader);
    redis->reader = NULL;
}

/* ----------------------------------------------------------------------------------- the stream */

static bool is_field(const redisReply *name, const char *text)
{
    return name->type == REDIS_REPLY_STRING && strcmp(name->str, text) == 0;
}

static void take_first(struct stretch *stretch, const redisReply *value)
{
    stretch->is_empty = value->type != REDIS_REPLY_ARRAY || value->elements != 2 ||
                        value->element[0]->type != REDIS_REPLY_STRING ||
                        !entry_id_parse(&stretch->first, value->element[0]->str);
}

/* Redis 7 and Valkey say how many were ever added. */
static bool read_stretch(struct stretch *stretch, const redisReply *reply)
{
    long long length = 0, added = 0;
    bool has_last = false;
    *stretch = (struct stretch){.is_there = true, .is_empty = true};
    for (size_t i = 0; i + 1 < reply->elements; i += 2) {
        const redisReply *name = reply->element[i], *value = reply->element[i + 1];
        if (is_field(name, "length"))
            length = value->integer;
        if (is_field(name, "entries-added"))
            added = value->integer;
        if (is_field(name, "first-entry"))
            take_first(stretch, value);
        if (is_field(name, "last-generated-id") && value->type == REDIS_REPLY_STRING)
            has_last = entry_id_parse(&stretch->last, value->str);
    }
    stretch->was_cut = added > length;
    return reply->type == REDIS_REPLY_ARRAY && has_last;
}

bool redis_look(struct redis *redis, struct stretch *stretch)
{
    const char *words[] = {"XINFO", "STREAM", redis->settings->stream};
    redisReply *reply = ask(redis, 3, words, 0);
    *stretch = (struct stretch){.is_there = false};
    if (!reply)
        return redis->is_refused && strstr(redis->why, "no such key");
    bool is_right = read_stretch(stretch, reply) || fail(redis, "", "XINFO has no last id");
    freeReplyObject(reply);
    return is_right;
}

/* [[stream, [entry, ...]]] */
static const redisReply *entries_of(const redisReply *reply)
{
    const redisReply *stream =
        reply->type == REDIS_REPLY_ARRAY && reply->elements == 1 ? reply->element[0] : NULL;
    bool is_right = stream && stream->type == REDIS_REPLY_ARRAY && stream->elements == 2 &&
                    stream->element[1]->type == REDIS_REPLY_ARRAY;
    return is_right ? stream->element[1] : NULL;
}

bool redis_read(struct redis *redis, const struct entry_id *after, redisReply **reply,
                const redisReply **entries)
{
    char count[24], id[ENTRY_ID_MAX];
    snprintf(count, sizeof count, "%d", (int)redis->settings->batch);
    entry_id_print(after, id);
    const char *words[] = {
        "XREAD", "COUNT", count, "BLOCK", BLOCK_MS, "STREAMS", redis->settings->stream, id};
    *reply = ask(redis, sizeof words / sizeof *words, words, BLOCK_NS);
    if (!*reply)
        return false;
    bool is_none = (*reply)->type == REDIS_REPLY_NIL;
    *entries = is_none ? NULL : entries_of(*reply);
    if (*entries)
        return true;
    freeReplyObject(*reply);
    *reply = NULL;
    return is_none || fail(redis, "", "XREAD's answer is no stream's");
}
