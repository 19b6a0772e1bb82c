#include "kernels/dtype.h"

#include <stdbool.h>
#include <string.h>

struct row {
    size_t bytes;
    const char *name;
    const char *safetensors;
};

static const struct row rows[DTYPE_COUNT] = {[DTYPE_NONE] = {0, "NONE", NULL},
#define X(ID, id, T, A, BYTES, V2, SAFE) [DTYPE_##ID] = {BYTES, V2, SAFE},
                                             DTYPE_TABLE(X)
#undef X
};

#define X(ID, id, T, A, BYTES, V2, SAFE)                                                           \
    _Static_assert((BYTES) == sizeof(T) || (BYTES) == 2 * sizeof(T), #ID);
DTYPE_TABLE(X)
#undef X

size_t dtype_bytes(enum dtype d)
{
    return rows[d].bytes;
}

const char *dtype_name(enum dtype d)
{
    return rows[d].name;
}

const char *dtype_safetensors_name(enum dtype d)
{
    return rows[d].safetensors;
}

static bool equals(const char *known, const char *name, size_t size)
{
    return known && strlen(known) == size && memcmp(known, name, size) == 0;
}

enum dtype dtype_from_v2(const char *name, size_t size)
{
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++)
        if (d != DTYPE_C64 && d != DTYPE_C128 && equals(rows[d].name, name, size))
            return (enum dtype)d;
    return DTYPE_NONE;
}

enum dtype dtype_from_safetensors(const char *name, size_t size)
{
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++)
        if (equals(rows[d].safetensors, name, size))
            return (enum dtype)d;
    return DTYPE_NONE;
}
