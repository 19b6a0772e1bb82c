#include "kernels/combine.h"
#include "kernels/arithmetic.h"

#define TYPE_TEXT "kernels/combine.inc"
#include "kernels/each_type.inc"

void combine_empty(enum combine combine, enum dtype dtype, void *element)
{
    memset(element, 0, dtype_bytes(dtype));
    switch (dtype) {
#define X(ID, id, T, ...)                                                                          \
    case DTYPE_##ID: {                                                                             \
        T empty = empty_##id(combine);                                                             \
        memcpy(element, &empty, sizeof empty);                                                     \
        break;                                                                                     \
    }
        DTYPE_NUMBERS(X)
#undef X
    case DTYPE_NONE:
    case DTYPE_BOOL:
    case DTYPE_C64:
    case DTYPE_C128:
    case DTYPE_BYTES:
    case DTYPE_COUNT:
        break;
    }
}
