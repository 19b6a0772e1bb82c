/* combine: the one list of what an update makes of an element. A row of the op table names one of
 * these; the enum, the kernels of every backend and the checks are made from the list.
 *
 * Columns of COMBINE_TABLE, after the two that say what to make of a row and for whom:
 *
 *   NAME
 *   BOOLS     YES, NO: whether it exists for BOOL
 *   SIGNED    YES, NO; AS_UNSIGNED: the bits are those of the unsigned type, whose kernels do it
 *   UNSIGNED  YES, NO
 *   FLOATS    YES, NO
 *   PICKS     whether the result is the element or the update, bit for bit: else the half types are
 *             computed in float32
 *   FIRST     whether a segment starts from its first element: else from EMPTY
 *   EMPTY     what leaves an element as it is. A segment without rows holds it, where its
 *             operation says so
 *   FORMULA   of the element `a` and the update `u`, both stored
 *
 * FN names arithmetic.h's functions for the type. A combine and a type that the list leaves out
 * have no kernel on any backend: an operation that needs one fails the self-test before the first
 * request.
 */
#ifndef KERNELS_COMBINE_H
#define KERNELS_COMBINE_H

#include "kernels/dtype.h"
#include "kernels/inline.h"

#include <stdbool.h>

/* clang-format off */
#define COMBINE_TABLE(ROW, X)                                                                      \
    ROW(X, ADD, NO,  AS_UNSIGNED, YES, YES, false, false, 0,                                       \
        FN(narrow)(FN(widen)(a) + FN(widen)(u)))                                                   \
    ROW(X, SUB, NO,  AS_UNSIGNED, YES, YES, false, true,  0,                                       \
        FN(narrow)(FN(widen)(a) - FN(widen)(u)))                                                   \
    ROW(X, MUL, NO,  AS_UNSIGNED, YES, YES, false, false, FN(one)(),                               \
        FN(narrow)(FN(multiply)(FN(widen)(a), FN(widen)(u))))                                      \
    ROW(X, DIV, NO,  YES,         YES, YES, false, true,  FN(one)(),     FN(divide)(a, u))         \
    ROW(X, MIN, NO,  YES,         YES, YES, true,  true,  FN(highest)(), FN(less)(u, a) ? u : a)   \
    ROW(X, MAX, NO,  YES,         YES, YES, true,  true,  FN(lowest)(),  FN(less)(a, u) ? u : a)   \
    ROW(X, OR,  YES, NO,          NO,  NO,  false, false, 0,             a | (u != 0))
/* clang-format on */

enum combine {
    COMBINE_SET,    /* the update itself: rows are moved whole, whatever they hold */
    COMBINE_CONCAT, /* BYTES: the update's text is appended */
#define ROW(X, NAME, ...) COMBINE_##NAME,
    COMBINE_TABLE(ROW, )
#undef ROW
        COMBINE_COUNT
};

/* The combines of a class of types: X(NAME, EMPTY, FORMULA) for each. */
#define COMBINES_OF_BOOL(X)     COMBINE_TABLE(BOOL_ROW, X)
#define COMBINES_OF_SIGNED(X)   COMBINE_TABLE(SIGNED_ROW, X)
#define COMBINES_OF_UNSIGNED(X) COMBINE_TABLE(UNSIGNED_ROW, X)
#define COMBINES_OF_FLOATS(X)   COMBINE_TABLE(FLOATS_ROW, X)

/* Those that a signed type leaves to the kernels of the unsigned one. */
#define COMBINES_AS_UNSIGNED(X) COMBINE_TABLE(SHARED_ROW, X)

/* clang-format off */
#define BOOL_ROW(X, NAME, B, S, U, F, PICKS, FIRST, ...)     ROW_IF_##B(X(NAME, __VA_ARGS__))
#define SIGNED_ROW(X, NAME, B, S, U, F, PICKS, FIRST, ...)   ROW_IF_##S(X(NAME, __VA_ARGS__))
#define UNSIGNED_ROW(X, NAME, B, S, U, F, PICKS, FIRST, ...) ROW_IF_##U(X(NAME, __VA_ARGS__))
#define FLOATS_ROW(X, NAME, B, S, U, F, PICKS, FIRST, ...)   ROW_IF_##F(X(NAME, __VA_ARGS__))
#define SHARED_ROW(X, NAME, B, S, U, F, PICKS, FIRST, ...)   ROW_SHARED_IF_##S(X(NAME, __VA_ARGS__))
#define ROW_IF_YES(row)                row
#define ROW_IF_NO(row)
#define ROW_IF_AS_UNSIGNED(row)
#define ROW_SHARED_IF_YES(row)
#define ROW_SHARED_IF_NO(row)
#define ROW_SHARED_IF_AS_UNSIGNED(row) row
/* clang-format on */

/* The column EMPTY for a type that has arithmetic and the combine: writes the element. Zeros for
 * any other. */
void combine_empty(enum combine combine, enum dtype dtype, void *element);

/* The column PICKS. */
ALWAYS_INLINE HD bool combine_picks(enum combine combine)
{
#define ROW(X, NAME, B, S, U, F, PICKS, ...) || (combine == COMBINE_##NAME && PICKS)
    return combine == COMBINE_SET COMBINE_TABLE(ROW, );
#undef ROW
}

/* The column FIRST. */
ALWAYS_INLINE HD bool combine_starts_from_first(enum combine combine)
{
#define ROW(X, NAME, B, S, U, F, P, FIRST, ...) || (combine == COMBINE_##NAME && FIRST)
    return false COMBINE_TABLE(ROW, );
#undef ROW
}

#endif
