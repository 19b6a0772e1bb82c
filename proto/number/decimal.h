/* decimal: the grammar of a JSON number (RFC 8259, section 6), and the number cut into its parts.
 * Private to proto/; C and C++. */
#ifndef PROTO_NUMBER_DECIMAL_H
#define PROTO_NUMBER_DECIMAL_H

#include "proto/number/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensors travel as they lie in memory, and eight digits are read as one word: little-endian"
#endif

/* The value is digits * 10^(exponent - fraction). */
struct decimal {
    const char *end; /* of the text */
    uint64_t
        mantissa;     /* the digits as one integer; meaningless with more than DECIMAL_DIGITS_MAX */
    int64_t whole;    /* digits before the point */
    int64_t fraction; /* digits after it */
    int64_t exponent; /* as written */
    bool negative;
    bool plain; /* neither a point nor an exponent */
};

enum { DECIMAL_DIGITS_MAX = 19 }; /* so many digits always fit 64 bits */

/* The largest integer that readers of JSON agree on: 2^53 is also what they make of 2^53 + 1
 * (RFC 7493, section 2.2). */
#define DECIMAL_EXACT_MAX (((int64_t)1 << 53) - 1)

/* An exponent is cut off where no text has the digits to bring it back. */
#define DECIMAL_EXPONENT_FAR ((int64_t)1000000000000)

static inline bool decimal_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/* Past JSON's space, which may stand around a number. */
static inline const char *decimal_space(const char *at, const char *end)
{
    while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* Whether eight bytes are digits, and their value: pairs, then fours, then all eight, with three
 * multiplications instead of eight. */
static inline bool decimal_eight(const char *at, uint64_t *value)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    if ((((word + 0x4646464646464646) | (word - 0x3030303030303030)) & 0x8080808080808080) != 0)
        return false;
    word -= 0x3030303030303030;
    word = word * 10 + (word >> 8);
    uint64_t odd = (word & 0x000000ff000000ff) * 0x000f424000000064;
    uint64_t even = (word >> 16 & 0x000000ff000000ff) * 0x0000271000000001;
    *value = (odd + even) >> 32;
    return true;
}

/* The digits behind a point: there are often many. */
static inline const char *decimal_fraction(const char *at, const char *end, uint64_t *mantissa)
{
    uint64_t eight;

    while (end - at >= 8 && decimal_eight(at, &eight)) {
        *mantissa = *mantissa * 100000000 + eight;
        at += 8;
    }
    for (; at != end && decimal_digit(*at); at++)
        *mantissa = *mantissa * 10 + (uint64_t)(*at - '0');
    return at;
}

/* From behind the "e" on; NULL when no digit follows. */
static inline const char *decimal_exponent(const char *at, const char *end, int64_t *exponent)
{
    bool negative = at != end && *at == '-';

    if (at != end && (*at == '-' || *at == '+'))
        at++;
    if (at == end || !decimal_digit(*at))
        return NULL;
    for (; at != end && decimal_digit(*at); at++)
        if (*exponent < DECIMAL_EXPONENT_FAR)
            *exponent = *exponent * 10 + (*at - '0');
    if (negative)
        *exponent = -*exponent;
    return at;
}

/* Cuts the JSON number up that starts at `text`; false when none does. */
static inline bool decimal_scan(struct decimal *d, const char *text, const char *end)
{
    d->negative = text != end && *text == '-';
    d->mantissa = 0;
    d->fraction = 0;
    d->exponent = 0;
    d->plain = true;

    const char *first = text + d->negative;
    const char *at = first;
    for (; at != end && decimal_digit(*at); at++)
        d->mantissa = d->mantissa * 10 + (uint64_t)(*at - '0');
    d->whole = at - first;
    if (d->whole == 0 || (d->whole > 1 && *first == '0'))
        return false;
    if (at != end && *at == '.') {
        const char *point = at + 1;
        at = decimal_fraction(point, end, &d->mantissa);
        d->fraction = at - point;
        d->plain = false;
        if (d->fraction == 0)
            return false;
    }
    if (at != end && (*at == 'e' || *at == 'E')) {
        at = decimal_exponent(at + 1, end, &d->exponent);
        d->plain = false;
    }
    d->end = at;
    return at != NULL;
}

/* The powers of ten that are doubles. */
enum { DECIMAL_POWERS_MAX = 22 };
static const double DECIMAL_POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* mantissa * 10^power where both are doubles: the one operation on them rounds correctly (Clinger),
 * and most texts need no more. */
static inline bool decimal_exact(uint64_t mantissa, int64_t power, double *value)
{
    if (mantissa > (uint64_t)1 << 53 || power < -DECIMAL_POWERS_MAX || power > DECIMAL_POWERS_MAX)
        return false;
    *value = power < 0 ? (double)mantissa / DECIMAL_POWERS[-power]
                       : (double)mantissa * DECIMAL_POWERS[power];
    return true;
}

/* The magnitude of a number that decimal_scan found at `text`, whatever its digits and exponent.
 * NUMBER_END, or NUMBER_FRACTION when it is not an integer (1.0 and 1200e-2 are), or NUMBER_RANGE
 * when it exceeds 64 bits. */
enum number_stop decimal_magnitude(const struct decimal *d, const char *text, uint64_t *magnitude);

/* Whether `text`, NUL-terminated, is a number that is an integer from 0 to DECIMAL_EXACT_MAX. Its
 * digits decide: what only rounds to an integer is none. */
bool decimal_size(const char *text, int64_t *size);

/* The order of the magnitude of a number that decimal_scan found at `text`, and a double that is
 * not 0: negative when the number is closer to 0, 0 when they are equal. Exact. */
int decimal_compare(const struct decimal *d, const char *text, double magnitude);

/* The exponent of ten of the first digit that is not 0: of 123e4 it is 6. The number is not 0. */
int64_t decimal_order(const struct decimal *d, const char *text);

#ifdef __cplusplus
}
#endif

#endif
