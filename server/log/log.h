/* log: one JSON object a line, through a bounded ring that one thread drains. Whoever logs never
 * waits for the reader of the log: when the ring is full the line is dropped and counted, and the
 * count is told in a line of its own when there is room again. */
#ifndef SERVER_LOG_LOG_H
#define SERVER_LOG_LOG_H

#include "kernels/error.h"
#include "proto/text.h"
#include "server/base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* In the order of the setting log_level's words. */
enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* A pipe takes a line of this length whole or not at all (PIPE_BUF); a file may take a part of one
 * when the disk is full. */
enum { LOG_LINE_MAX = 4096 };

struct log {
    int fd;
    _Atomic uint64_t level; /* lines below it are left out */
    pthread_t writer;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    char *ring;
    size_t capacity;
    uint64_t head, tail; /* bytes ever put and ever written; the ring holds [tail, head) */
    uint64_t dropped, dropped_told;
    struct clock_text now; /* of the last line */
    bool sleeping, stopping;
};

/* A line under construction, on the caller's stack. A field that does not fit is left out whole, so
 * the line stays JSON. */
struct log_line {
    struct text text;
    char buffer[LOG_LINE_MAX];
};

/* Starts the writer to `fd`, which stays the caller's. Errors: RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code log_init(struct log *log, int fd, size_t capacity, struct error *error);

/* Writes out what is in the ring, unless the reader stalls for a second. */
void log_release(struct log *log);

void log_set_level(struct log *log, enum log_level level);
bool log_wants(const struct log *log, enum log_level level);

/* Lines dropped since the start. */
uint64_t log_dropped(struct log *log);

/* log_begin, any fields, log_end, whose time is the line's. Keys are plain ASCII and not
 * escaped. */
void log_begin(struct log_line *line, enum log_level level, const char *message);
void log_string(struct log_line *line, const char *key, const char *value);
static inline void log_word(struct log_line *line, const char *key, const char *value);
static inline void log_int(struct log_line *line, const char *key, int64_t value);
void log_end(struct log_line *line, struct log *log);

/* Logs a line with one text field, or none when `key` is NULL, if its level is wanted. */
void log_say(struct log *log, enum log_level level, const char *message, const char *key,
             const char *value);

/* Writes a key, and returns where its value of at most `most` bytes goes; NULL: no room. Inline, so
 * that keys that are literals are measured by the compiler: a request's line has thirty. */
static inline char *log_key(struct log_line *line, const char *key, size_t most)
{
    struct text *text = &line->text;
    char *at = text->data + text->size;
    size_t size = strlen(key);
    if (size + 4 + most > text->capacity - 1 - text->size)
        return NULL;
    memcpy(at, ",\"", 2);
    memcpy(at + 2, key, size);
    memcpy(at + 2 + size, "\":", 2);
    return at + size + 4;
}

static inline void log_close(struct log_line *line, char *end)
{
    *end = '\0';
    line->text.size = (size_t)(end - line->text.data);
}

/* `value` needs no escapes. */
static inline void log_word(struct log_line *line, const char *key, const char *value)
{
    size_t size = strlen(value);
    char *at = log_key(line, key, size + 2);
    if (!at)
        return;
    *at++ = '"';
    at = (char *)memcpy(at, value, size) + size;
    *at++ = '"';
    log_close(line, at);
}

static inline void log_int(struct log_line *line, const char *key, int64_t value)
{
    char *at = log_key(line, key, TEXT_INT_MAX);
    if (at)
        log_close(line, text_put_int(at, value));
}

#endif
