/* float_text: the text of any finite float, the shortest that reads back to the same bits, over
 * std::to_chars. Private to number.cc; C++. */
#ifndef PROTO_NUMBER_FLOAT_TEXT_H
#define PROTO_NUMBER_FLOAT_TEXT_H

#include "proto/number/decimal.h"
#include "proto/number/half.h"

#include <charconv>
#include <cmath>
#include <cstring>

/* "-1.00000075e-36" -> "-100000075e-44". */
static char *float_drop_point(char *text, char *end)
{
    char *point = (char *)memchr(text, '.', (size_t)(end - text));
    char *e = (char *)memchr(text, 'e', (size_t)(end - text));
    int exponent = 0;

    std::from_chars(e + (e[1] == '+' ? 2 : 1), end, exponent);
    memmove(point, point + 1, (size_t)(e - point));
    return std::to_chars(e, end, exponent - (int)(e - point - 1)).ptr;
}

static inline bool float_has_point(const char *text, const char *end)
{
    while (text != end && *text != '.' && *text != 'e')
        text++;
    return text != end;
}

/* A whole number for which std::to_chars(float) would write the digits of the integer: from 100000
 * on an exponent may be shorter. */
template <typename T> static inline bool float_is_small_whole(T value)
{
    return std::fabs(value) < 100000 && value == (T)(int)value && value != 0;
}

/* std::to_chars gives the shortest digits, but whole numbers without a point, and an FP32 with a
 * sign and nine digits in one character more than `longest`. */
template <typename T> static char *float_print(T value, ptrdiff_t longest, char *out)
{
    char *end = float_is_small_whole(value) ? std::to_chars(out, out + longest, (int)value).ptr
                                            : std::to_chars(out, out + longest + 1, value).ptr;
    bool pointed = float_has_point(out, end);

    if (pointed && end - out <= longest)
        return end;
    if (!pointed && end - out + 2 <= longest) {
        *end++ = '.';
        *end++ = '0';
        return end;
    }
    end = std::to_chars(out, out + longest + 1, value, std::chars_format::scientific).ptr;
    return end - out <= longest ? end : float_drop_point(out, end);
}

/* mantissa * 10^power, as its text would be read. */
static double float_from_decimal(uint64_t mantissa, int power)
{
    char text[32];
    double value;

    if (decimal_exact(mantissa, power, &value))
        return value;
    char *end = std::to_chars(text, text + DECIMAL_DIGITS_MAX + 1, mantissa).ptr;
    *end++ = 'e';
    end = std::to_chars(end, text + sizeof(text), power).ptr;
    std::from_chars(text, end, value);
    return value;
}

/* The double of the fewest digits that rounds to a finite half, so that its shortest text is the
 * half's. With each number of digits the nearest decimal is tried, and the next one above: at a
 * power of two a half reaches further up than down. */
static double half_shortest(uint16_t half, const half_format &format)
{
    double value = half_to_double(half & (HALF_SIGN - 1), &format);
    double sign = half & HALF_SIGN ? -1.0 : 1.0;

    if (value == 0)
        return sign * value;
    for (int scale = -(int)std::floor(std::log10(value));; scale++) {
        double scaled = scale < 0 ? value / float_from_decimal(1, -scale)
                                  : value * float_from_decimal(1, scale);
        uint64_t nearest = (uint64_t)std::llrint(scaled);
        for (uint64_t mantissa = nearest; mantissa <= nearest + 1; mantissa++) {
            double candidate = float_from_decimal(mantissa, -scale);
            if (half_from_double(candidate, &format) == (half & (HALF_SIGN - 1)))
                return sign * candidate;
        }
    }
}

#endif
