#include "kernels/tensor.h"

#include <inttypes.h>
#include <stdio.h>

bool shape_product(const int64_t *shape, int from, int to, int64_t *product)
{
    bool zero = false, overflow = false;
    int64_t p = 1;
    for (int i = from; i < to; i++) {
        if (shape[i] < 0)
            return false;
        zero |= shape[i] == 0;
        overflow |= __builtin_mul_overflow(p, shape[i], &p);
    }
    *product = zero ? 0 : p;
    return zero || !overflow;
}

bool tensor_count(const struct tensor *t, int64_t *count)
{
    return shape_product(t->shape, 0, t->rank, count);
}

bool tensor_bytes(const struct tensor *t, size_t *bytes)
{
    int64_t count;
    return tensor_count(t, &count) &&
           !__builtin_mul_overflow((size_t)count, dtype_bytes(t->dtype), bytes);
}

const char *shape_print(char *text, const int64_t *shape, int rank)
{
    char *end = text;
    *end++ = '[';
    for (int i = 0; i < rank; i++)
        end += sprintf(end, i ? ", %" PRId64 : "%" PRId64, shape[i]);
    *end++ = ']';
    *end = '\0';
    return text;
}
