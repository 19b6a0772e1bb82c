/* dtype: the only list of element types.
 *
 * Columns: ID, id, storage type, arithmetic type, bytes, v2 name, safetensors name (NULL: has
 * none). Integer arithmetic is unsigned, so overflow wraps instead of being undefined; the half
 * types compute in float. DTYPE_NUMBERS are those with arithmetic: a kernel text is instantiated
 * once for each of them. DTYPE_SCALARS are those that a JSON number or truth value stands for.
 * Complex tensors are floats of twice the row width for kernels; BOOL, BYTES are only copied, or'ed
 * and concatenated. */
#ifndef KERNELS_DTYPE_H
#define KERNELS_DTYPE_H

#include <stddef.h>
#include <stdint.h>

/* A BYTES element: a view into somebody else's bytes. */
struct span {
    const char *data;
    size_t size;
};

#define DTYPE_SIGNED(X)                                                                            \
    X(INT8, i8, int8_t, uint8_t, 1, "INT8", "I8")                                                  \
    X(INT16, i16, int16_t, uint16_t, 2, "INT16", "I16")                                            \
    X(INT32, i32, int32_t, uint32_t, 4, "INT32", "I32")                                            \
    X(INT64, i64, int64_t, uint64_t, 8, "INT64", "I64")

#define DTYPE_UNSIGNED(X)                                                                          \
    X(UINT8, u8, uint8_t, uint8_t, 1, "UINT8", "U8")                                               \
    X(UINT16, u16, uint16_t, uint16_t, 2, "UINT16", "U16")                                         \
    X(UINT32, u32, uint32_t, uint32_t, 4, "UINT32", "U32")                                         \
    X(UINT64, u64, uint64_t, uint64_t, 8, "UINT64", "U64")

#define DTYPE_HALVES(X)                                                                            \
    X(FP16, f16, uint16_t, float, 2, "FP16", "F16")                                                \
    X(BF16, bf16, uint16_t, float, 2, "BF16", "BF16")

#define DTYPE_FLOATS(X)                                                                            \
    X(FP32, f32, float, float, 4, "FP32", "F32")                                                   \
    X(FP64, f64, double, double, 8, "FP64", "F64")

#define DTYPE_NUMBERS(X)                                                                           \
    DTYPE_SIGNED(X)                                                                                \
    DTYPE_UNSIGNED(X)                                                                              \
    DTYPE_HALVES(X)                                                                                \
    DTYPE_FLOATS(X)

#define DTYPE_SCALARS(X)                                                                           \
    X(BOOL, bool, uint8_t, uint8_t, 1, "BOOL", "BOOL")                                             \
    DTYPE_NUMBERS(X)

#define DTYPE_TABLE(X)                                                                             \
    DTYPE_SCALARS(X)                                                                               \
    X(C64, c64, float, float, 8, "C64", "C64")                                                     \
    X(C128, c128, double, double, 16, "C128", NULL)                                                \
    X(BYTES, bytes, struct span, struct span, 16, "BYTES", NULL)

enum dtype {
    DTYPE_NONE = 0, /* an absent optional input */
#define X(ID, id, T, A, BYTES, V2, SAFE) DTYPE_##ID,
    DTYPE_TABLE(X)
#undef X
        DTYPE_COUNT
};

/* A set of dtypes, bit 1 << DTYPE_x. */
typedef uint32_t dtype_set;
#define DTYPE_BIT(ID) (1u << DTYPE_##ID)

/* The sets that operations take and kernels exist for. */
#define DTYPE_OR_(ID, ...) | DTYPE_BIT(ID)
#define DTYPES_SIGNED      (0u DTYPE_SIGNED(DTYPE_OR_))
#define DTYPES_UNSIGNED    (0u DTYPE_UNSIGNED(DTYPE_OR_))
#define DTYPES_INTEGERS    (DTYPES_SIGNED | DTYPES_UNSIGNED)
#define DTYPES_FLOATS      (0u DTYPE_HALVES(DTYPE_OR_) DTYPE_FLOATS(DTYPE_OR_))
#define DTYPES_COMPLEX     (DTYPE_BIT(C64) | DTYPE_BIT(C128))
#define DTYPES_REAL        (DTYPES_INTEGERS | DTYPES_FLOATS)
#define DTYPES_ALL         (DTYPES_REAL | DTYPES_COMPLEX | DTYPE_BIT(BOOL) | DTYPE_BIT(BYTES))
#define DTYPES_INDEX       (DTYPE_BIT(INT32) | DTYPE_BIT(INT64))

/* On the wire, and in the limit of an output, a BYTES element is this many bytes, its size, and
 * then its text. */
enum { BYTES_SIZE_BYTES = 4 };

/* Bytes of one element in memory (BYTES: of its span); 0 for DTYPE_NONE. */
size_t dtype_bytes(enum dtype d);

/* "FP32"; "NONE" for DTYPE_NONE. C64 and C128 have a name for messages, though v2 has no such
 * type. */
const char *dtype_name(enum dtype d);

/* "F32", or NULL where safetensors has no such type. */
const char *dtype_safetensors_name(enum dtype d);

/* The inverse of the two above; DTYPE_NONE when nothing has that name. `size` bytes, no terminator
 * needed. The first knows only the types that protocol v2 has (no complex). */
enum dtype dtype_from_v2(const char *name, size_t size);
enum dtype dtype_from_safetensors(const char *name, size_t size);

#endif
