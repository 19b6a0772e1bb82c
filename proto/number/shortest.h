/* shortest: the text of most FP32 by FP64 arithmetic, in two thirds of the time of std::to_chars
 * and with the same bytes (tests/soak/shortest.cc compares every value of the range). Private to
 * number.cc; C and C++. */
#ifndef PROTO_NUMBER_SHORTEST_H
#define PROTO_NUMBER_SHORTEST_H

#include "proto/number/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The range: where std::to_chars writes no exponent, and fractions are possible. */
#define SHORTEST_FROM  1e-3f
#define SHORTEST_BELOW 16777216.0f

enum { SHORTEST_ROOM = 32 /* bytes that are written over, however short the text is */ };

/* Exact, up to 10^16. */
static inline int64_t shortest_power(int power)
{
    return (int64_t)DECIMAL_POWERS[power];
}

/* The decimal number * 10^-scale. */
struct shortest {
    int64_t number;
    int scale; /* 2 .. 12 */
    int zeros; /* that the number ends with; when 3, there may be more */
};

/* The decimal of the fewest digits that rounds to `value`, and of those the nearest one.
 *
 * Scaled by a power of ten, the value is a number v from 1e8 to 2e9, and the decimals that round to
 * it are those closer to v than `reach`, half a step of FP32, which is 3 to 120. So the answer is
 * the nearest multiple of 1000 if that is close enough, else of 100, of 10, of 1. As v is off by
 * 3e-7 at the most, comparisons closer than `doubt` are not decided here. false: in doubt, or a
 * power of two, which reaches less far down than up. */
static inline bool shortest_find(struct shortest *s, float value)
{
    static const double units[] = {1, 10, 100, 1000}, parts[] = {1, 0.1, 0.01, 0.001};
    const double doubt = 1e-5, no_fraction = 0x1.8p52; /* added, it leaves no bits for one */
    double half_step, multiple[4], distance[4];
    uint32_t bits;
    unsigned close = 0, doubtful = 0;

    memcpy(&bits, &value, sizeof(bits));
    int exponent = (int)(bits >> 23) - 127;
    int scale = 8 - (exponent * 1233 >> 12); /* log10(2) is about 1233 / 4096 */
    uint64_t half_step_bits = (uint64_t)(exponent - 24 + 1023) << 52;
    memcpy(&half_step, &half_step_bits, sizeof(half_step));
    double v = (double)value * DECIMAL_POWERS[scale];
    double reach = half_step * DECIMAL_POWERS[scale];

    for (int i = 0; i < 4; i++) {
        multiple[i] = (v * parts[i] + no_fraction - no_fraction) * units[i];
        distance[i] = fabs(multiple[i] - v);
    }
    for (int i = 0; i < 4; i++) {
        close |= (unsigned)(distance[i] < reach) << i;
        doubtful |= (unsigned)(fabs(distance[i] - reach) < doubt);
    }
    if (doubtful || close == 0 || (bits & 0x7FFFFF) == 0)
        return false;
    int zeros = 31 - __builtin_clz(close);
    *s = (struct shortest){(int64_t)multiple[zeros], scale, zeros};
    return fabs(distance[zeros] - units[zeros] / 2) >= doubt; /* else two are nearest */
}

/* Eight digits, zeros in front included: fours, then pairs, then single ones, all at a time. */
static inline void shortest_eight(uint64_t number, char *out)
{
    uint64_t fours = number / 10000 | number % 10000 << 32;
    uint64_t upper = (fours * 10486 >> 20) & 0x0000007f0000007f; /* of each four */
    uint64_t pairs = ((fours - 100 * upper) << 16) + upper;
    uint64_t tens = (pairs * 103 >> 10) & 0x000f000f000f000f;
    uint64_t digits = ((pairs - 10 * tens) << 8) + tens + 0x3030303030303030;

    memcpy(out, &digits, sizeof(digits));
}

/* A number below 1e8, and the end of its digits. */
static inline char *shortest_whole(int64_t number, char *out)
{
    int digits = 2;

    if (number < 10) {
        *out = (char)('0' + number);
        return out + 1;
    }
    while (number >= shortest_power(digits))
        digits++;
    shortest_eight((uint64_t)(number * shortest_power(8 - digits)), out);
    return out + digits;
}

/* Prints as std::to_chars would and returns the end; NULL where std::to_chars must be asked:
 * outside of the range, for whole numbers, and in doubt. The text has at most 14 bytes. */
static inline char *shortest_print(float value, char out[SHORTEST_ROOM])
{
    struct shortest s;
    float magnitude = fabsf(value);

    if (!(magnitude >= SHORTEST_FROM && magnitude < SHORTEST_BELOW) ||
        !shortest_find(&s, magnitude))
        return NULL;
    /* The decimal has the value's whole part: every whole number of the range is an FP32 itself, so
     * no decimal beyond one rounds to the value. */
    int64_t whole = (int64_t)magnitude;
    int64_t fraction = s.number - whole * shortest_power(s.scale);
    if (fraction == 0)
        return NULL;
    *out = '-';
    char *point = shortest_whole(whole, out + (value < 0));
    *point = '.';
    uint64_t sixteen = (uint64_t)(fraction * shortest_power(16 - s.scale));
    shortest_eight(sixteen / 100000000, point + 1);
    shortest_eight(sixteen % 100000000, point + 9);
    char *end = point + 1 + s.scale - s.zeros;
    while (s.zeros == 3 && end[-1] == '0')
        end--;
    return end;
}

#endif
