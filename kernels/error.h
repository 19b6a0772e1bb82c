/* error: what the client sees when a request fails, filled where the fault is found.
 *
 * A function that can fail returns an error code, marked MUST_CHECK, and fills the struct error
 * that it is given last. The first fault wins: a callee's error is passed on as it is. */
#ifndef KERNELS_ERROR_H
#define KERNELS_ERROR_H

#include "kernels/limits.h"

#include <stdint.h>

#define MUST_CHECK               __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/* The codes are part of the wire contract: names never change. */
#define ERROR_TABLE(X)                                                                             \
    X(INVALID_JSON)                                                                                \
    X(INVALID_FIELD)                                                                               \
    X(INVALID_HEADER)                                                                              \
    X(MISSING_INPUT)                                                                               \
    X(UNKNOWN_INPUT)                                                                               \
    X(DUPLICATE_INPUT)                                                                             \
    X(UNKNOWN_OUTPUT)                                                                              \
    X(SHAPE_MISMATCH)                                                                              \
    X(SIZE_MISMATCH)                                                                               \
    X(VALUE_OUT_OF_RANGE)                                                                          \
    X(NONFINITE_IN_JSON)                                                                           \
    X(NOT_UTF8)                                                                                    \
    X(UNSUPPORTED_DTYPE)                                                                           \
    X(INVALID_PARAMETER)                                                                           \
    X(INDEX_OUT_OF_BOUNDS)                                                                         \
    X(SEGMENT_IDS_NOT_SORTED)                                                                      \
    X(SEGMENT_ID_OUT_OF_RANGE)                                                                     \
    X(DIVISION_BY_ZERO)                                                                            \
    X(UNAUTHENTICATED)                                                                             \
    X(FORBIDDEN)                                                                                   \
    X(QUOTA_EXCEEDED)                                                                              \
    X(NOT_FOUND)                                                                                   \
    X(MODEL_NOT_FOUND)                                                                             \
    X(TENSOR_NOT_FOUND)                                                                            \
    X(METHOD_NOT_ALLOWED)                                                                          \
    X(CONFLICT)                                                                                    \
    X(PRECONDITION_FAILED)                                                                         \
    X(ROWS_OUT_OF_RANGE)                                                                           \
    X(IDEMPOTENCY_KEY_REUSED)                                                                      \
    X(PAYLOAD_TOO_LARGE)                                                                           \
    X(OUTPUT_TOO_LARGE)                                                                            \
    X(UNSUPPORTED_ENCODING)                                                                        \
    X(EXPECTATION_FAILED)                                                                          \
    X(INTERNAL)                                                                                    \
    X(NOT_SUPPORTED)                                                                               \
    X(QUEUE_FULL)                                                                                  \
    X(RESOURCE_EXHAUSTED)                                                                          \
    X(TENSOR_MEMORY_FULL)                                                                          \
    X(TENSOR_FILE_FAILED)                                                                          \
    X(TENSOR_HELD)                                                                                 \
    X(DRAINING)                                                                                    \
    X(DEADLINE_EXCEEDED)                                                                           \
    X(CANCELLED) /* the client left: logged, never sent */

enum error_code {
    ERROR_NONE = 0,
#define X(NAME) ERROR_##NAME,
    ERROR_TABLE(X)
#undef X
        ERROR_CODE_COUNT
};

/* One bad row or value: where it stands in its input, and what it was. */
struct fault {
    int position_rank;
    int64_t position[RANK_MAX]; /* multi-index over the rows of the input */
    int index_rank;
    int64_t index[RANK_MAX]; /* the whole tuple found there */
    int axis;                /* first component of index that is out of range, or -1 */
};

enum { ERROR_FAULTS_MAX = 8, ERROR_MESSAGE_MAX = 640 };

struct error {
    enum error_code code;
    const char *input; /* static name of the input at fault, or NULL */
    int fault_count;   /* faults that are described below; the first is the one in the message */
    struct fault faults[ERROR_FAULTS_MAX];
    int bound_rank; /* bound[] is meaningful iff > 0 */
    int64_t bound[RANK_MAX];
    int64_t invalid_count;           /* how many rows are bad in all; 0 when not counted */
    char message[ERROR_MESSAGE_MAX]; /* the sentence, without the code */
};

/* Makes `e` say "no error". Cheap: the details are not touched. */
void error_clear(struct error *e);

/* Fills code and sentence, no details, and returns `code`. A sentence that is too long is cut at a
 * UTF-8 character. */
enum error_code error_set(struct error *e, enum error_code code, const char *input,
                          const char *format, ...) PRINTF_LIKE(4, 5);

/* "INDEX_OUT_OF_BOUNDS"; "NONE" for ERROR_NONE. */
const char *error_name(enum error_code code);

#endif
