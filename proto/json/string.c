#include "proto/json/string.h"

#include "proto/escape.h"
#include "proto/json/find.h"
#include "proto/utf8.h"

#include <stdint.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- checking */

static const char *fail(struct json_fault *fault, const char *at, const char *expected)
{
    *fault = (struct json_fault){at, expected};
    return NULL;
}

/* The four digits of \uXXXX at `at`, or -1. */
static int32_t unit_value(const char *at, const char *end)
{
    int32_t value = 0;

    if (end - at < ESCAPE_MAX || at[0] != '\\' || at[1] != 'u')
        return -1;
    for (int i = 2; i < ESCAPE_MAX; i++) {
        char c = at[i], lower = (char)(c | 0x20);
        if (c >= '0' && c <= '9')
            value = value << 4 | (c - '0');
        else if (lower >= 'a' && lower <= 'f')
            value = value << 4 | (lower - 'a' + 10);
        else
            return -1;
    }
    return value;
}

static bool is_high_surrogate(int32_t unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low_surrogate(int32_t unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

static const char *check_unit(struct json_string *s, const char *at, const char *end,
                              struct json_fault *fault)
{
    int32_t unit = unit_value(at, end);

    if (unit < 0)
        return fail(fault, at, "four hexadecimal digits after \\u");
    s->has_nul |= unit == 0;
    if (is_low_surrogate(unit))
        return fail(fault, at, "the first half of a surrogate pair before the second");
    if (!is_high_surrogate(unit))
        return at + ESCAPE_MAX;
    if (!is_low_surrogate(unit_value(at + ESCAPE_MAX, end)))
        return fail(fault, at, "the second half of a surrogate pair after the first");
    return at + 2 * ESCAPE_MAX;
}

/* The end of the character at `at`, which json_find_special found and which is not a quote. */
static const char *check_special(struct json_string *s, const char *at, const char *end,
                                 struct json_fault *fault)
{
    if ((unsigned char)*at < 0x20)
        return fail(fault, at, "an escape instead of a control character");
    if (*at != '\\') {
        size_t size = utf8_size(at, end);
        return size > 0 ? at + size : fail(fault, at, "UTF-8");
    }
    s->escaped = true;
    if (end - at >= 2 && at[1] == 'u')
        return check_unit(s, at, end, fault);
    if (end - at < 2 || at[1] == '\0' || !strchr(ESCAPE_LETTERS, at[1]))
        return fail(fault, at, "an escape that JSON has: one of \"\\/bfnrtu after \\");
    return at + 2;
}

bool json_string_check(struct json_string *s, const char *at, const char *end,
                       struct json_fault *fault)
{
    *s = (struct json_string){.begin = at + 1};
    at = json_find_special(at + 1, end);
    while (at != end && *at != '"') {
        at = check_special(s, at, end, fault);
        if (!at)
            return false;
        at = json_find_special(at, end);
    }
    if (at == end)
        return fail(fault, at, "the end of a string") != NULL;
    s->end = at;
    return true;
}

/* ------------------------------------------------------------------------------------- decoding */

/* The character that the escape at *at means; *at moves past it. */
static uint32_t decode_escape(const char **at, const char *end)
{
    static const char letters[] = ESCAPE_LETTERS;
    int32_t unit = unit_value(*at, end);

    if (unit < 0) {
        char letter = (*at)[1];
        *at += 2;
        return (uint32_t)ESCAPE_VALUES[strchr(letters, letter) - letters];
    }
    *at += ESCAPE_MAX;
    if (!is_high_surrogate(unit))
        return (uint32_t)unit;
    int32_t low = unit_value(*at, end);
    *at += ESCAPE_MAX;
    return 0x10000 + ((uint32_t)(unit - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
}

size_t json_string_decode(const struct json_string *s, char *out)
{
    const char *at = s->begin;
    char *begin = out;

    while (at != s->end) {
        const char *escape = memchr(at, '\\', (size_t)(s->end - at));
        size_t plain = (size_t)((escape ? escape : s->end) - at);
        memcpy(out, at, plain);
        out += plain;
        at += plain;
        if (escape)
            out = utf8_put(out, decode_escape(&at, s->end));
    }
    return (size_t)(out - begin);
}

/* ------------------------------------------------------------------------------------- printing */

/* The first byte of a value; an empty value may have a NULL pointer. */
static const char *begin_of(const struct span *value)
{
    return value->size > 0 ? value->data : "";
}

size_t json_string_size(const struct span *value)
{
    const char *at = begin_of(value), *end = at + value->size;
    size_t size = value->size + 2;
    char escape[ESCAPE_MAX];

    for (; (at = json_find_special(at, end)) != end; at++)
        if ((unsigned char)*at < 0x80)
            size += (size_t)(escape_put(escape, *at) - escape) - 1;
    return size;
}

char *json_string_print(char *out, const struct span *value, size_t *bad)
{
    const char *begin = begin_of(value), *at = begin, *end = begin + value->size;

    *out++ = '"';
    while (at != end) {
        const char *special = json_find_special(at, end);
        size_t size = (size_t)(special - at);
        if (special != end && (unsigned char)*special >= 0x80) {
            size_t character = utf8_size(special, end);
            *bad = (size_t)(special - begin);
            if (character == 0)
                return NULL;
            size += character;
        }
        memcpy(out, at, size);
        out += size;
        at += size;
        if (at == special && at != end)
            out = escape_put(out, *at++);
    }
    *out++ = '"';
    return out;
}
