#include "server/log/log.h"

#include "server/base/units.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The writing thread naps after each write instead of waiting to be woken: under load, logging a
 * line needs no system call. */
static const struct timespec nap = {.tv_nsec = 5 * 1000 * 1000};

enum { STALL_POLL_MS = 100, STALLS_AT_END = 10 };

/* How a line starts. Its time is written over the zeros when it ends. */
static const char line_start[] = "{\"ts\":\"0000-00-00T00:00:00.000000000Z\",\"level\":\"";
enum { TIME_AT = sizeof "{\"ts\":\"" - 1 };

static bool is_stopping(struct log *log)
{
    pthread_mutex_lock(&log->lock);
    bool stopping = log->stopping;
    pthread_mutex_unlock(&log->lock);
    return stopping;
}

/* Waits until `fd` takes LOG_LINE_MAX bytes without blocking. False when the reader is gone, or
 * stalls while the log ends. */
static bool await_reader(struct log *log)
{
    for (int stalls = 0; stalls < STALLS_AT_END;) {
        struct pollfd p = {.fd = log->fd, .events = POLLOUT};
        int ready = poll(&p, 1, STALL_POLL_MS);
        if (ready > 0)
            return !(p.revents & (POLLERR | POLLNVAL));
        if (is_stopping(log))
            stalls++;
    }
    return false;
}

/* The writing thread's position in the text. */
struct outlet {
    struct log *log;
    bool is_file;
    bool is_mid_line; /* the last byte written was no newline */
    bool is_torn;     /* the rest of that line was dropped */
    bool is_dropping; /* the next byte continues a line whose start was dropped */
};

/* Writes one piece and returns how much of it was written: 0 when the reader is gone or stalls
 * while the log ends, or when the disk is full. */
static size_t write_piece(struct outlet *outlet, const char *bytes, size_t size)
{
    if (!outlet->is_file && size > LOG_LINE_MAX)
        size = LOG_LINE_MAX;
    while (outlet->is_file || await_reader(outlet->log)) {
        ssize_t n = write(outlet->log->fd, bytes, size);
        if (n > 0)
            return (size_t)n;
        if (n == 0 || (errno != EINTR && errno != EAGAIN))
            return 0;
    }
    return 0;
}

/* Waits for text. Returns how many contiguous bytes are at the ring's tail, 0 at the end. */
static size_t await_text(struct log *log, const char **bytes)
{
    pthread_mutex_lock(&log->lock);
    while (log->head == log->tail && !log->stopping) {
        log->sleeping = true;
        pthread_cond_wait(&log->wake, &log->lock);
        log->sleeping = false;
    }
    size_t start = log->tail % log->capacity;
    size_t size = (size_t)(log->head - log->tail);
    if (size > log->capacity - start)
        size = log->capacity - start;
    *bytes = log->ring + start;
    pthread_mutex_unlock(&log->lock);
    return size;
}

/* Frees `size` written bytes at the ring's tail, and logs how many lines were lost before them. */
static void advance(struct log *log, size_t size)
{
    pthread_mutex_lock(&log->lock);
    log->tail += size;
    uint64_t untold = log->dropped - log->dropped_told;
    log->dropped_told = log->dropped;
    pthread_mutex_unlock(&log->lock);
    if (untold) {
        struct log_line line;
        log_begin(&line, LOG_WARN, "log lines dropped");
        log_int(&line, "count", (int64_t)untold);
        log_end(&line, log);
    }
}

/* Frees `size` bytes at the ring's tail unwritten, so that memory stays bounded. The loss is logged
 * after the next write: a line about it now would be dropped too. */
static void ring_drop(struct outlet *outlet, const char *bytes, size_t size)
{
    struct log *log = outlet->log;
    uint64_t lines = 0;
    for (size_t i = 0; i < size; i++)
        lines += bytes[i] == '\n';
    outlet->is_torn |= outlet->is_mid_line;
    outlet->is_dropping = bytes[size - 1] != '\n';
    pthread_mutex_lock(&log->lock);
    log->tail += size;
    log->dropped += lines;
    pthread_mutex_unlock(&log->lock);
}

/* Ends a torn line, so that whole lines follow it. */
static bool mend(struct outlet *outlet)
{
    if (outlet->is_torn && write_piece(outlet, "\n", 1) != 1)
        return false;
    outlet->is_torn = outlet->is_mid_line = false;
    return true;
}

/* Writes or drops some of the ring's text; true when all of it was written. */
static bool pass_text(struct outlet *outlet, const char *bytes, size_t size)
{
    if (outlet->is_dropping) {
        const char *end = memchr(bytes, '\n', size);
        ring_drop(outlet, bytes, end ? (size_t)(end - bytes) + 1 : size);
        return false;
    }
    size_t written = outlet->is_torn && !mend(outlet) ? 0 : write_piece(outlet, bytes, size);
    if (written == 0) {
        ring_drop(outlet, bytes, size);
        return false;
    }
    outlet->is_mid_line = bytes[written - 1] != '\n';
    advance(outlet->log, written);
    return written == size;
}

static void *log_loop(void *context)
{
    struct log *log = context;
    struct outlet outlet = {.log = log};
    struct stat status;
    outlet.is_file = fstat(log->fd, &status) == 0 && S_ISREG(status.st_mode);
    const char *bytes;
    size_t size;
    while ((size = await_text(log, &bytes)) > 0)
        if (pass_text(&outlet, bytes, size) && !is_stopping(log))
            nanosleep(&nap, NULL);
    return NULL;
}

enum error_code log_init(struct log *log, int fd, size_t capacity, struct error *error)
{
    *log = (struct log){.fd = fd, .capacity = capacity, .level = LOG_INFO};
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->wake, NULL);
    log->ring = malloc(capacity);
    if (log->ring && pthread_create(&log->writer, NULL, log_loop, log) == 0)
        return ERROR_NONE;
    free(log->ring);
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory or thread for the log");
}

void log_release(struct log *log)
{
    pthread_mutex_lock(&log->lock);
    log->stopping = true;
    pthread_cond_signal(&log->wake);
    pthread_mutex_unlock(&log->lock);
    pthread_join(log->writer, NULL);
    pthread_cond_destroy(&log->wake);
    pthread_mutex_destroy(&log->lock);
    free(log->ring);
}

void log_set_level(struct log *log, enum log_level level)
{
    atomic_store_explicit(&log->level, level, memory_order_relaxed);
}

bool log_wants(const struct log *log, enum log_level level)
{
    return level >= atomic_load_explicit(&log->level, memory_order_relaxed);
}

uint64_t log_dropped(struct log *log)
{
    pthread_mutex_lock(&log->lock);
    uint64_t dropped = log->dropped;
    pthread_mutex_unlock(&log->lock);
    return dropped;
}

static void ring_put(struct log *log, const char *bytes, size_t size)
{
    size_t start = log->head % log->capacity;
    size_t first = size < log->capacity - start ? size : log->capacity - start;
    memcpy(log->ring + start, bytes, first);
    memcpy(log->ring, bytes + first, size - first);
    log->head += size;
}

static void ring_put_or_drop(struct log *log, char *bytes, size_t size)
{
    uint64_t now = clock_wall_ns();
    pthread_mutex_lock(&log->lock);
    bool fits = log->capacity - (size_t)(log->head - log->tail) >= size;
    if (fits) {
        clock_print(&log->now, now);
        memcpy(bytes + TIME_AT, log->now.text, CLOCK_TEXT_SIZE);
        ring_put(log, bytes, size);
    }
    log->dropped += !fits;
    if (log->sleeping)
        pthread_cond_signal(&log->wake);
    pthread_mutex_unlock(&log->lock);
}

void log_begin(struct log_line *line, enum log_level level, const char *message)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    /* Two bytes stay free for the object's brace and the newline. */
    text_init(&line->text, line->buffer, sizeof line->buffer - 2);
    text_put(&line->text, line_start, sizeof line_start - 1);
    text_puts(&line->text, names[level]);
    text_puts(&line->text, "\"");
    log_word(line, "msg", message);
}

static size_t put_key(struct text *text, const char *key)
{
    size_t before = text->size;
    text_puts(text, ",\"");
    text_puts(text, key);
    text_puts(text, "\":");
    return before;
}

static void undo_if_cut(struct text *text, size_t before)
{
    if (!text->cut)
        return;
    text->size = before;
    text->data[before] = '\0';
    text->cut = false;
}

void log_string(struct log_line *line, const char *key, const char *value)
{
    size_t before = put_key(&line->text, key);
    text_json(&line->text, value, strlen(value));
    undo_if_cut(&line->text, before);
}

void log_end(struct log_line *line, struct log *log)
{
    line->text.capacity = sizeof line->buffer;
    text_put(&line->text, "}\n", 2);
    ring_put_or_drop(log, line->text.data, line->text.size);
}

void log_say(struct log *log, enum log_level level, const char *message, const char *key,
             const char *value)
{
    if (!log_wants(log, level))
        return;
    struct log_line line;
    log_begin(&line, level, message);
    if (key)
        log_string(&line, key, value);
    log_end(&line, log);
}
