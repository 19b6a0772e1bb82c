#include "kernels/cpu/fill.h"

#include <string.h>

enum { CHUNK_BYTES = 1 << 20, LINE = 64 };

#ifdef __x86_64__
#include <emmintrin.h>

/* Whole lines of 64 bytes, `to` aligned to them. `from` NULL: zeros. */
static void stream_lines(char *to, const char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 16) {
        __m128i v = from ? _mm_loadu_si128((const __m128i *)(from + i)) : _mm_setzero_si128();
        _mm_stream_si128((__m128i *)(to + i), v);
    }
    _mm_sfence();
}
#else
static void stream_lines(char *to, const char *from, size_t bytes)
{
    if (from)
        memcpy(to, from, bytes);
    else
        memset(to, 0, bytes);
}
#endif

static void write(char *to, const char *from, size_t bytes)
{
    if (from)
        memcpy(to, from, bytes);
    else
        memset(to, 0, bytes);
}

static void stream(char *to, const char *from, size_t bytes)
{
    size_t head = -(uintptr_t)to % LINE;
    head = head < bytes ? head : bytes;
    size_t lines = (bytes - head) / LINE * LINE;
    write(to, from, head);
    stream_lines(to + head, from ? from + head : NULL, lines);
    write(to + head + lines, from ? from + head + lines : NULL, bytes - head - lines);
}

static void fill(const struct plan *plan, const char *source, size_t from, size_t to, bool past)
{
    char *out = plan->output.data;
    for (size_t at = from; at < to && !plan_stopped(plan); at += CHUNK_BYTES) {
        size_t bytes = to - at < CHUNK_BYTES ? to - at : CHUNK_BYTES;
        (past ? stream : write)(out + at, source ? source + at : NULL, bytes);
    }
}

static bool is_zero(const struct plan *plan)
{
    static const unsigned char zero[sizeof plan->empty];
    return memcmp(plan->empty, zero, sizeof zero) == 0;
}

/* A line of elements that no update reached, repeated: an element's size divides the line's. */
static void repeat_empty(char *to, const struct plan *plan, size_t bytes)
{
    char line[LINE];
    size_t element = dtype_bytes(plan->dtype);
    for (size_t i = 0; i < LINE; i += element)
        memcpy(line + i, plan->empty, element);
    for (size_t i = 0; i < bytes; i += LINE)
        memcpy(to + i, line, bytes - i < LINE ? bytes - i : LINE);
}

void fill_empty(const struct plan *plan, size_t from, size_t to, bool past)
{
    char *out = plan->output.data;
    if (is_zero(plan)) {
        fill(plan, NULL, from, to, past);
        return;
    }
    for (size_t at = from; at < to && !plan_stopped(plan); at += CHUNK_BYTES)
        repeat_empty(out + at, plan, to - at < CHUNK_BYTES ? to - at : CHUNK_BYTES);
}

void fill_elements(void *out, const struct plan *plan, int64_t n)
{
    repeat_empty(out, plan, (size_t)n * dtype_bytes(plan->dtype));
}

void fill_start(const struct plan *plan, size_t from, size_t to, bool past)
{
    if (!plan->start)
        fill_empty(plan, from, to, past);
    else if (plan->start->data != plan->output.data)
        fill(plan, plan->start->data, from, to, past);
}
