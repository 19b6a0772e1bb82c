#include "proto/number/digits.h"

#include "proto/number/decimal.h"

#include <stddef.h>

const char *digits_read(const char *text, uint64_t most, uint64_t *value)
{
    const char *at = text;
    *value = 0;
    for (; decimal_digit(*at); at++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*at - '0'), value))
            return NULL;
    return at > text && *value <= most ? at : NULL;
}
