#include "proto/number/decimal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* A double has at most so many digits that are not 0: a multiple of 2^-1074. With a point, an
 * exponent and a terminator, DOUBLE_TEXT_MAX. */
enum { DOUBLE_DIGITS_MAX = 767, DOUBLE_TEXT_MAX = DOUBLE_DIGITS_MAX + 8 };

/* value * 10^zeros + digit, or false when that leaves 64 bits. */
static bool append(uint64_t *value, int64_t zeros, unsigned digit)
{
    for (; zeros > 0 && *value != 0; zeros--)
        if (__builtin_mul_overflow(*value, 10, value))
            return false;
    return !__builtin_add_overflow(*value, digit, value);
}

enum number_stop decimal_magnitude(const struct decimal *d, const char *text, uint64_t *magnitude)
{
    int64_t zeros = 0; /* that the digits end with: they belong to the exponent */
    bool fits = true, nonzero = false;

    *magnitude = 0;
    for (const char *at = text; at != d->end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '0') {
            zeros++;
        } else if (decimal_digit(*at)) {
            fits = fits && append(magnitude, zeros + 1, (unsigned)(*at - '0'));
            nonzero = true;
            zeros = 0;
        }
    }
    zeros += d->exponent - d->fraction;
    if (nonzero && zeros < 0)
        return NUMBER_FRACTION;
    return fits && append(magnitude, zeros, 0) ? NUMBER_END : NUMBER_RANGE;
}

bool decimal_size(const char *text, int64_t *size)
{
    struct decimal d;
    uint64_t magnitude;

    if (!decimal_scan(&d, text, text + strlen(text)) || *d.end != '\0' ||
        decimal_magnitude(&d, text, &magnitude) != NUMBER_END ||
        magnitude > (uint64_t)DECIMAL_EXACT_MAX || (d.negative && magnitude > 0))
        return false;
    *size = (int64_t)magnitude;
    return true;
}

/* The next digit of a number's text from *at on, past its point; 0 after its last one. */
static int next_digit(const char **at, const char *end)
{
    if (*at != end && **at == '.')
        (*at)++;
    return *at != end && decimal_digit(**at) ? *(*at)++ - '0' : 0;
}

static const char *first_digit(const struct decimal *d, const char *text)
{
    const char *first = text + d->negative;

    while (*first == '0' || *first == '.')
        first++;
    return first;
}

int64_t decimal_order(const struct decimal *d, const char *text)
{
    const char *point = text + d->negative + d->whole, *first = first_digit(d, text);

    return d->exponent + (point - first) - (first < point);
}

int decimal_compare(const struct decimal *d, const char *text, double magnitude)
{
    char digits[DOUBLE_TEXT_MAX];
    int size = snprintf(digits, sizeof(digits), "%.*e", DOUBLE_DIGITS_MAX - 1, magnitude);
    const char *at = first_digit(d, text), *other = digits, *end = strchr(digits, 'e');
    int64_t order = decimal_order(d, text) - strtol(end + 1, NULL, 10);

    assert(size < DOUBLE_TEXT_MAX);
    for (int difference = (order > 0) - (order < 0);;) {
        bool ended = at == d->end || *at == 'e' || *at == 'E';
        if (difference != 0 || (ended && other == end))
            return difference;
        difference = next_digit(&at, d->end) - next_digit(&other, end);
    }
}
