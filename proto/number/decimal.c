#include "proto/number/decimal.h"

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

bool decimal_is_large(const struct decimal *d, const char *text)
{
    const char *point = text + d->negative + d->whole;
    const char *first = text + d->negative; /* digit that is not 0 */

    while (*first == '0' || *first == '.')
        first++;
    return d->exponent + (point - first) > 0;
}
