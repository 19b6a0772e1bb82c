#include "tests/support/golden/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void reader_fail(const struct reader *r, const char *expected)
{
    fprintf(stderr, "golden: expected %s at: %.60s\nin: %.200s\n", expected, r->at,
            r->golden->line);
    abort();
}

void *reader_take(struct reader *r, size_t bytes)
{
    struct golden *g = r->golden;
    size_t room = (bytes + 15) / 16 * 16;
    if (room > g->memory_size - g->memory_used)
        reader_fail(r, "fewer elements than this shape has");
    void *p = g->memory + g->memory_used;
    g->memory_used += room;
    return p;
}

static void skip_blanks(struct reader *r)
{
    r->at += strspn(r->at, " \n");
}

bool reader_accept(struct reader *r, const char *token)
{
    skip_blanks(r);
    size_t size = strlen(token);
    if (strncmp(r->at, token, size) != 0)
        return false;
    r->at += size;
    return true;
}

void reader_expect(struct reader *r, const char *token)
{
    if (!reader_accept(r, token))
        reader_fail(r, token);
}

bool reader_more(struct reader *r, const char *close)
{
    if (reader_accept(r, ","))
        return true;
    reader_expect(r, close);
    return false;
}

/* ----------------------------------------------------------------------------------- strings */

static unsigned read_hex(struct reader *r)
{
    unsigned unit;
    if (sscanf(r->at, "%4x", &unit) != 1)
        reader_fail(r, "four hexadecimal digits");
    r->at += 4;
    return unit;
}

static char *write_utf8(char *out, unsigned point)
{
    static const struct {
        unsigned limit;
        unsigned char lead;
        int tail;
    } forms[] = {{0x80, 0, 0}, {0x800, 0xC0, 1}, {0x10000, 0xE0, 2}, {0x110000, 0xF0, 3}};
    int form = 0;
    while (point >= forms[form].limit)
        form++;
    int tail = forms[form].tail;
    *out++ = (char)(forms[form].lead | point >> 6 * tail);
    while (tail-- > 0)
        *out++ = (char)(0x80 | (point >> 6 * tail & 0x3F));
    return out;
}

/* What follows a backslash. */
static char *read_escape(struct reader *r, char *out)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    char letter = *r->at++;
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (known) {
        *out = bytes[known - letters];
        return out + 1;
    }
    if (letter != 'u')
        reader_fail(r, "an escape");
    unsigned point = read_hex(r);
    if (point >= 0xD800 && point < 0xDC00) {
        reader_expect(r, "\\u");
        point = 0x10000 + ((point - 0xD800) << 10) + (read_hex(r) - 0xDC00);
    }
    return write_utf8(out, point);
}

struct span reader_string(struct reader *r)
{
    reader_expect(r, "\"");
    char *text = reader_take(r, strcspn(r->at, "\n") + 1), *out = text;
    while (*r->at != '"') {
        if (*r->at == '\0')
            reader_fail(r, "the end of the string");
        if (*r->at != '\\')
            *out++ = *r->at++;
        else {
            r->at++;
            out = read_escape(r, out);
        }
    }
    r->at++;
    *out = '\0';
    r->golden->memory_used = ((size_t)(out + 1 - r->golden->memory) + 15) / 16 * 16;
    return (struct span){text, (size_t)(out - text)};
}

const char *reader_name(struct reader *r)
{
    return reader_string(r).data;
}

/* ----------------------------------------------------------------------------------- numbers */

int64_t reader_signed(struct reader *r)
{
    char *end;
    errno = 0;
    skip_blanks(r);
    long long v = strtoll(r->at, &end, 10);
    if (end == r->at || errno)
        reader_fail(r, "an integer of 64 bits");
    r->at = end;
    return v;
}

uint64_t reader_unsigned(struct reader *r)
{
    char *end;
    errno = 0;
    skip_blanks(r);
    unsigned long long v = strtoull(r->at, &end, 10);
    if (end == r->at || errno)
        reader_fail(r, "an unsigned integer of 64 bits");
    r->at = end;
    return v;
}

double reader_double(struct reader *r)
{
    char *end;
    skip_blanks(r);
    double v = strtod(r->at, &end);
    if (end == r->at)
        reader_fail(r, "a number");
    r->at = end;
    return v;
}
