#include "tests/support/kernels/segment_rows.h"

#include <string.h>

/* A zero among the divisors of integers is an error that segments do not look for. Over ids in any
 * order no difference and no quotient is possible. */
static const struct {
    const char *name;
    const char *like; /* the row of the table that has another combine */
    enum combine combine;
    dtype_set dtypes;
} rows[] = {
    {"sparse_segment_sum", "sparse_segment_sum", COMBINE_ADD, DTYPES_REAL},
    {"sparse_segment_sub", "sparse_segment_sum", COMBINE_SUB, DTYPES_REAL},
    {"sparse_segment_prod", "sparse_segment_sum", COMBINE_MUL, DTYPES_REAL},
    {"sparse_segment_div", "sparse_segment_sum", COMBINE_DIV, DTYPES_FLOATS},
    {"sparse_segment_min", "sparse_segment_sum", COMBINE_MIN, DTYPES_REAL},
    {"sparse_segment_max", "sparse_segment_sum", COMBINE_MAX, DTYPES_REAL},
    {"sparse_segment_or", "sparse_segment_sum", COMBINE_OR, DTYPE_BIT(BOOL)},
    {"segment_sub", "segment_sum", COMBINE_SUB, DTYPES_REAL},
    {"segment_div", "segment_sum", COMBINE_DIV, DTYPES_FLOATS},
    {"segment_or", "segment_sum", COMBINE_OR, DTYPE_BIT(BOOL)},
    {"unsorted_segment_or", "unsorted_segment_sum", COMBINE_OR, DTYPE_BIT(BOOL)},
};

enum { ROWS = sizeof rows / sizeof rows[0], OF_PAIRS = 7 };
_Static_assert(OF_PAIRS == COMBINE_COUNT - 2, "each but SET and CONCAT, which move whole rows");

bool segment_row_at(int i, struct op *row)
{
    struct op_name like;
    if (i == ROWS || !op_find(rows[i].like, strlen(rows[i].like), &like))
        return false;
    *row = *like.op;
    row->name = rows[i].name;
    row->combine = rows[i].combine;
    row->dtypes = rows[i].dtypes;
    return true;
}
