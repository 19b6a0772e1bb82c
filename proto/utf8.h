/* utf8: one character of UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above
 * U+10FFFF). */
#ifndef PROTO_UTF8_H
#define PROTO_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at `text`, which is not `end`; 0 when there is none. */
static inline size_t utf8_size(const char *text, const char *end)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t size = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;

    if (s[0] > 0xF4 || size > (size_t)(end - text))
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return size;
}

/* Writes a character of at most U+10FFFF, no surrogate, and returns the end of its 1 to 4 bytes. */
static inline char *utf8_put(char *out, uint32_t character)
{
    if (character < 0x80) {
        *out++ = (char)character;
        return out;
    }
    int tail = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
    *out++ = (char)(lead[tail] | character >> 6 * tail);
    while (tail-- > 0)
        *out++ = (char)(0x80 | (character >> 6 * tail & 0x3F));
    return out;
}

#endif
