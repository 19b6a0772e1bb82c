/* half: the 16-bit floats beside FP64, which holds each exactly. (The kernels, which compute in
 * FP32, have conversions of their own.) Private to proto/; C and C++. */
#ifndef PROTO_NUMBER_HALF_H
#define PROTO_NUMBER_HALF_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct half_format {
    int fraction; /* bits of it */
    int lowest;   /* exponent of the smallest normal number */
    uint16_t infinity;
};

static const struct half_format HALF_FP16 = {10, -14, 0x7c00};
static const struct half_format HALF_BF16 = {7, -126, 0x7f80};

enum { HALF_SIGN = 0x8000 };

static inline bool half_is_finite(uint16_t half, const struct half_format *format)
{
    return (half & format->infinity) != format->infinity;
}

/* 2^exponent; a normal double. */
static inline double half_power(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;

    memcpy(&power, &bits, sizeof(power));
    return power;
}

/* The magnitude of a double in units of the last place of the halves around it, whose exponent is
 * *exponent; HUGE_VAL where the format does not reach. The scaling is exact. */
static inline double half_steps(double value, const struct half_format *format, int *exponent)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    *exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (*exponent < format->lowest)
        *exponent = format->lowest;
    return *exponent > 1 - format->lowest ? HUGE_VAL
                                          : fabs(value) * half_power(format->fraction - *exponent);
}

/* To nearest even; infinity when the format does not reach so far. The value is not NaN. llrint
 * alone rounds, and a carry out of the fraction lands in the exponent. */
static inline uint16_t half_from_double(double value, const struct half_format *format)
{
    int exponent, sign = signbit(value) ? HALF_SIGN : 0;
    double steps = half_steps(value, format, &exponent);

    if (steps == HUGE_VAL)
        return (uint16_t)(sign | format->infinity);
    return (uint16_t)(sign |
                      (((exponent - format->lowest) << format->fraction) + (int)llrint(steps)));
}

/* Whether a double lies halfway between two neighbouring halves, or the largest and infinity. */
static inline bool half_is_tie(double value, const struct half_format *format)
{
    int exponent;
    double steps = half_steps(value, format, &exponent);

    return steps != HUGE_VAL && steps - floor(steps) == 0.5;
}

/* The half's value, exact. The half is finite. */
static inline double half_to_double(uint16_t half, const struct half_format *format)
{
    int magnitude = half & (HALF_SIGN - 1);
    int exponent = magnitude >> format->fraction;
    int above = exponent > 0 ? exponent - 1 : 0; /* the smallest normal number's */
    int steps = magnitude - (above << format->fraction);
    double value = steps * half_power(above + format->lowest - format->fraction);

    return half & HALF_SIGN ? -value : value;
}

#endif
