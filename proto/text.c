#include "proto/text.h"

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

void text_int(struct text *t, int64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        digits[--at] = '-';
    text_put(t, digits + at, sizeof(digits) - at);
}

void text_hex(struct text *t, uint64_t value, int width)
{
    char digits[16];
    size_t at = sizeof(digits);
    assert(width <= 16);
    do {
        digits[--at] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value > 0 || (int)(sizeof(digits) - at) < width);
    text_put(t, digits + at, sizeof(digits) - at);
}

/* The escape of a byte that may not stand in a JSON string; NULL when it may. */
static const char *escape_of(char c, char hex[7])
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        if ((unsigned char)c >= 0x20)
            return NULL;
        snprintf(hex, 7, "\\u%04x", (unsigned)c);
        return hex;
    }
}

/* Whether a byte is printable ASCII that needs no escape: most are. */
static bool is_plain(char c)
{
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

void text_json(struct text *t, const char *string, size_t size)
{
    size_t plain = 0; /* where the run of bytes that stand for themselves began */
    text_put(t, "\"", 1);
    for (size_t i = 0; i < size;) {
        char hex[7];
        if (is_plain(string[i])) {
            i++;
            continue;
        }
        bool nul = size - i >= 2 && memcmp(string + i, TEXT_NUL, 2) == 0;
        size_t length = nul ? 2 : utf8_size(string + i, string + size);
        const char *escape = nul           ? "\\u0000"
                             : length == 0 ? "\xEF\xBF\xBD"
                                           : escape_of(string[i], hex);
        size_t step = length == 0 ? 1 : length;
        if (escape) {
            text_put(t, string + plain, i - plain);
            text_puts(t, escape);
            plain = i + step;
        }
        i += step;
    }
    text_put(t, string + plain, size - plain);
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
