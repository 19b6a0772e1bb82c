#include "proto/request/inflate.h"

#include "proto/request/guise.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

/* A compressed body while it is read. */
struct source {
    z_stream stream;
    const char *body;
    size_t size, taken; /* taken: handed to zlib */
    enum coding coding;
    struct inflate_limit limit;
    const struct work *work;
};

enum {
    STEP_BYTES = 256 * 1024,    /* output between two looks at the stop flag */
    FEED_BYTES = 1 << 30,       /* zlib counts in 32 bits */
    GUESS_MIN_BYTES = 4096,     /* worth no second pass */
    DEFLATE_RATIO_MAX = 1032,   /* what the format can reach */
    GZIP_MEMBER_MIN_BYTES = 18, /* header and trailer */
    WINDOW_BITS_ANY = 15 | 32   /* zlib or gzip, as the stream's first bytes say */
};

static void *zlib_get(void *opaque, unsigned items, unsigned size)
{
    struct memory *memory = opaque;
    return memory->get(memory, (size_t)items * size);
}

static void zlib_put(void *opaque, void *bytes)
{
    (void)opaque;
    (void)bytes;
}

static enum error_code no_memory(struct error *error)
{
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                     "there is no memory to decompress the body");
}

static enum error_code not_compressed(const struct source *s, const char *fault,
                                      struct error *error)
{
    const char *coding = s->coding == CODING_GZIP ? "gzip" : "deflate";
    struct guise guise = guise_of(s->body, s->size);
    if (guise.kind == GUISE_JSON || guise.kind == GUISE_OTHER)
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "Content-Encoding is %s, but the body looks like %s; %s", coding,
                         guise.looks, guise.advice);
    return error_set(error, ERROR_INVALID_HEADER, NULL,
                     "Content-Encoding is %s, but the body of %zu bytes %s", coding, s->size,
                     fault);
}

/* After the end of a stream: gzip may go on with another member, anything else is garbage. */
static enum error_code next_member(struct source *s, bool *done, struct error *error)
{
    *done = s->stream.avail_in == 0 && s->taken == s->size;
    if (*done)
        return ERROR_NONE;
    if (s->coding != CODING_GZIP)
        return not_compressed(s, "has bytes after the end of its stream", error);
    return inflateReset(&s->stream) == Z_OK ? ERROR_NONE : no_memory(error);
}

static void feed(struct source *s)
{
    if (s->stream.avail_in > 0)
        return;
    size_t left = s->size - s->taken;
    s->stream.avail_in = (uInt)(left < FEED_BYTES ? left : FEED_BYTES);
    s->stream.next_in = (Bytef *)(uintptr_t)(s->body + s->taken); /* zlib does not write there */
    s->taken += s->stream.avail_in;
}

/* Gives zlib up to `room` bytes at `out` and counts what it made of them. */
static enum error_code step(struct source *s, char *out, size_t room, size_t *made, bool *done,
                            struct error *error)
{
    feed(s);
    s->stream.next_out = (Bytef *)out;
    s->stream.avail_out = (uInt)room;
    int status = inflate(&s->stream, Z_NO_FLUSH);
    *made = room - s->stream.avail_out;
    switch (status) {
    case Z_STREAM_END:
        return next_member(s, done, error);
    case Z_OK:
        return ERROR_NONE;
    case Z_MEM_ERROR:
        return no_memory(error);
    case Z_BUF_ERROR:
        return not_compressed(s, "ends in the middle of its stream", error);
    default:
        return not_compressed(s, "is damaged, or no stream with the header of RFC 1950 or 1952",
                              error);
    }
}

/* Decompresses the whole body into out[0..capacity), starting again at its front whenever it is
 * full: the bytes are right iff *total <= capacity, and the count always is. */
static enum error_code run(struct source *s, char *out, size_t capacity, size_t *total,
                           struct error *error)
{
    bool done = false;
    *total = 0;
    s->taken = 0;
    s->stream.avail_in = 0;
    while (!done) {
        size_t at = *total % capacity, made = 0;
        size_t room = capacity - at < STEP_BYTES ? capacity - at : STEP_BYTES;
        if (work_stopped(s->work))
            return error_set(error, ERROR_CANCELLED, NULL, "stopped while decompressing");
        enum error_code code = step(s, out + at, room, &made, &done, error);
        if (code)
            return code;
        *total += made;
        if (*total > s->limit.bytes)
            return error_set(error, ERROR_PAYLOAD_TOO_LARGE, NULL,
                             "the body has more than %zu bytes after decompression, the limit "
                             "(setting %s)",
                             s->limit.bytes, s->limit.setting);
    }
    return ERROR_NONE;
}

/* A gzip trailer says the size modulo 2^32 (of the last member), deflate says nothing. A body can
 * lie, but not beyond what its length can hold. */
static size_t guess(const struct source *s)
{
    size_t most = s->size > SIZE_MAX / DEFLATE_RATIO_MAX ? SIZE_MAX : s->size * DEFLATE_RATIO_MAX;
    size_t size = s->size > SIZE_MAX / 4 ? SIZE_MAX : s->size * 4;
    if (s->coding == CODING_GZIP && s->size >= GZIP_MEMBER_MIN_BYTES) {
        const unsigned char *end = (const unsigned char *)s->body + s->size - 4;
        size = end[0] | (size_t)end[1] << 8 | (size_t)end[2] << 16 | (size_t)end[3] << 24;
    }
    size = size < most ? size : most;
    size = size < s->limit.bytes ? size : s->limit.bytes;
    return size > GUESS_MIN_BYTES ? size : GUESS_MIN_BYTES;
}

static enum error_code place(struct inflated *inflated, size_t size, size_t lead,
                             const struct work *work, struct error *error)
{
    size_t front = ANSWER_HEAD_ROOM + (TENSOR_ALIGNMENT - lead % TENSOR_ALIGNMENT);
    char *block = size > SIZE_MAX - front ? NULL : work->memory->get(work->memory, front + size);
    if (!block)
        return no_memory(error);
    inflated->data = block + front;
    inflated->size = size;
    return ERROR_NONE;
}

/* One pass when the guess holds, else the first only counts and the second fills. */
static enum error_code fill(struct source *s, struct inflated *inflated, size_t lead,
                            struct error *error)
{
    size_t total;
    enum error_code code = place(inflated, guess(s), lead, s->work, error);
    if (code)
        return code;
    code = run(s, inflated->data, inflated->size, &total, error);
    if (code)
        return code;
    if (total > inflated->size) {
        code = place(inflated, total, lead, s->work, error);
        if (code)
            return code;
        if (inflateReset(&s->stream) != Z_OK)
            return no_memory(error);
        code = run(s, inflated->data, total, &total, error);
        if (code)
            return code;
        assert(total == inflated->size);
    }
    inflated->size = total;
    return ERROR_NONE;
}

enum error_code inflate_body(struct inflated *inflated, enum coding coding, const char *body,
                             size_t size, size_t lead, struct inflate_limit limit,
                             const struct work *work, struct error *error)
{
    struct source s = {.body = body, .size = size, .coding = coding, .limit = limit, .work = work};
    s.stream = (z_stream){.zalloc = zlib_get, .zfree = zlib_put, .opaque = work->memory};
    if (inflateInit2(&s.stream, WINDOW_BITS_ANY) != Z_OK)
        return no_memory(error);
    enum error_code code = fill(&s, inflated, lead, error);
    inflateEnd(&s.stream);
    return code;
}
