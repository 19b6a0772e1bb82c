#include "tests/support/kernels/number.h"

#include <math.h>

bool number_is_float(enum dtype d)
{
    return d >= DTYPE_FP16 && d <= DTYPE_C128;
}

static double half_value(uint16_t h, int mantissa, int lowest)
{
    int exponent = (h & 0x7FFF) >> mantissa, largest = 2 * -lowest + 3;
    double rest = h & ((1 << mantissa) - 1), sign = h & 0x8000 ? -1 : 1;
    if (exponent == largest)
        return rest != 0 ? NAN : sign * INFINITY;
    double whole = exponent ? ldexp(1, mantissa) : 0;
    return sign * ldexp(whole + rest, lowest - mantissa + (exponent ? exponent - 1 : 0));
}

struct number number_load(const struct tensor *t, int64_t i)
{
    switch (t->dtype) {
#define X(ID, id, T, ...)                                                                          \
    case DTYPE_##ID:                                                                               \
        return (struct number){.i = ((const T *)t->data)[i]};
        DTYPE_SIGNED(X)
        DTYPE_UNSIGNED(X)
        X(BOOL, bool, uint8_t)
#undef X
    case DTYPE_FP16:
        return (struct number){.f = half_value(((const uint16_t *)t->data)[i], 10, -14)};
    case DTYPE_BF16:
        return (struct number){.f = half_value(((const uint16_t *)t->data)[i], 7, -126)};
    case DTYPE_FP32:
    case DTYPE_C64:
        return (struct number){.f = ((const float *)t->data)[i]};
    default:
        return (struct number){.f = ((const double *)t->data)[i]};
    }
}

void number_store(struct tensor *t, int64_t i, struct number v)
{
    switch (t->dtype) {
#define X(ID, id, T, ...)                                                                          \
    case DTYPE_##ID:                                                                               \
        ((T *)t->data)[i] = (T)v.i;                                                                \
        break;
        DTYPE_SIGNED(X)
        DTYPE_UNSIGNED(X)
        X(BOOL, bool, uint8_t)
#undef X
    case DTYPE_FP16:
    case DTYPE_BF16:
        ((uint16_t *)t->data)[i] = number_round(v.f, t->dtype);
        break;
    case DTYPE_FP32:
    case DTYPE_C64:
        ((float *)t->data)[i] = (float)v.f;
        break;
    default:
        ((double *)t->data)[i] = v.f;
    }
}

uint16_t number_round(double v, enum dtype dtype)
{
    int mantissa = dtype == DTYPE_FP16 ? 10 : 7, lowest = dtype == DTYPE_FP16 ? -14 : -126;
    unsigned sign = signbit(v) ? 0x8000 : 0, infinite = (unsigned)(2 * -lowest + 3) << mantissa;
    int exponent;
    if (isnan(v))
        return (uint16_t)(sign | infinite | 1u << (mantissa - 1));
    if (isinf(v) || v == 0)
        return (uint16_t)(sign | (v == 0 ? 0 : infinite));
    (void)frexp(v, &exponent);
    exponent = exponent - 1 < lowest ? lowest : exponent - 1;
    unsigned bits = ((unsigned)(exponent - lowest) << mantissa) +
                    (unsigned)nearbyint(ldexp(fabs(v), mantissa - exponent));
    return (uint16_t)(sign | (bits < infinite ? bits : infinite));
}
