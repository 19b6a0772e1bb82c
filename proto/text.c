#include "proto/text.h"

#include "proto/escape.h"
#include "proto/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_init(struct text *t, char *buffer, size_t capacity)
{
    assert(capacity >= 1);
    t->data = buffer;
    t->size = 0;
    t->capacity = capacity;
    t->cut = false;
    buffer[0] = '\0';
}

void text_printf(struct text *t, const char *format, ...)
{
    size_t room = t->capacity - t->size;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(t->data + t->size, room, format, arguments);
    va_end(arguments);
    assert(length >= 0);
    if ((size_t)length >= room) {
        t->size = t->capacity - 1;
        t->cut = true;
    } else {
        t->size += (size_t)length;
    }
}

char *text_put_int(char *to, int64_t value)
{
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    size_t size = 1;
    if (value < 0)
        *to++ = '-';
    for (uint64_t r = rest; r >= 10; r /= 10)
        size++;
    for (size_t i = size; i > 0; i--, rest /= 10)
        to[i - 1] = (char)('0' + rest % 10);
    return to + size;
}

void text_int(struct text *t, int64_t value)
{
    char digits[TEXT_INT_MAX];
    text_put(t, digits, (size_t)(text_put_int(digits, value) - digits));
}

void text_hex(struct text *t, uint64_t value, int width)
{
    char digits[16];
    int size = width > 1 ? width : 1;
    assert(width <= 16);
    while (size < 16 && value >> (4 * size) > 0)
        size++;
    for (int i = size; i > 0; i--, value >>= 4)
        digits[i - 1] = "0123456789abcdef"[value & 15];
    text_put(t, digits, (size_t)size);
}

/* ASCII that needs no escape, as most is. */
static const bool is_plain[256] = {
    [' ' ... '!'] = true, ['#' ... '['] = true, [']' ... '\x7f'] = true};

/* Appends what stands for the byte at `at` and those behind it that belong to it; returns how many
 * they are. */
static size_t put_special(struct text *t, const char *at, const char *end)
{
    char escape[ESCAPE_MAX];
    bool nul = end - at >= 2 && memcmp(at, TEXT_NUL, 2) == 0;
    size_t size = utf8_size(at, end);

    if (size > 1)
        text_put(t, at, size);
    else if (size == 1 || nul)
        text_put(t, escape, (size_t)(escape_put(escape, nul ? '\0' : *at) - escape));
    else
        text_puts(t, "\xEF\xBF\xBD");
    return nul ? 2 : size > 1 ? size : 1;
}

void text_json(struct text *t, const char *string, size_t size)
{
    const char *at = string, *end = string + size;

    text_put(t, "\"", 1);
    while (at != end) {
        const char *plain = at;
        while (at != end && is_plain[(unsigned char)*at])
            at++;
        text_put(t, plain, (size_t)(at - plain));
        if (at != end)
            at += put_special(t, at, end);
    }
    text_put(t, "\"", 1);
}

void text_dtypes(struct text *t, dtype_set set, const char *(*name)(enum dtype))
{
    const char *separator = "";
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++) {
        if (!(set >> d & 1) || !name((enum dtype)d))
            continue;
        text_puts(t, separator);
        text_puts(t, name((enum dtype)d));
        separator = ", ";
    }
}

void text_quoted(struct text *t, const char *json)
{
    for (const char *quote; (quote = strchr(json, '\'')); json = quote + 1) {
        text_put(t, json, (size_t)(quote - json));
        text_put(t, "\"", 1);
    }
    text_puts(t, json);
}

void text_shape(struct text *t, const struct tensor *tensor)
{
    text_put(t, "[", 1);
    for (int i = 0; i < tensor->rank; i++) {
        if (i > 0)
            text_put(t, ",", 1);
        text_int(t, tensor->shape[i]);
    }
    text_put(t, "]", 1);
}

void text_pad(struct text *t, size_t start, size_t multiple)
{
    static const char spaces[] = "                                                                ";
    size_t over = (t->size - start) % multiple;
    assert(multiple < sizeof(spaces));
    if (over > 0)
        text_put(t, spaces, multiple - over);
}
