#include "tests/support/kernels/segment_rows.h"

/* A zero among the divisors of integers is an error that segments do not look for. */
static const struct {
    const char *name;
    enum combine combine;
    dtype_set dtypes;
} rows[] = {
    {"sparse_segment_sum", COMBINE_ADD, DTYPES_REAL},
    {"sparse_segment_sub", COMBINE_SUB, DTYPES_REAL},
    {"sparse_segment_prod", COMBINE_MUL, DTYPES_REAL},
    {"sparse_segment_div", COMBINE_DIV, DTYPES_FLOATS},
    {"sparse_segment_min", COMBINE_MIN, DTYPES_REAL},
    {"sparse_segment_max", COMBINE_MAX, DTYPES_REAL},
    {"sparse_segment_or", COMBINE_OR, DTYPE_BIT(BOOL)},
};

enum { ROWS = sizeof rows / sizeof rows[0] };
_Static_assert(ROWS == COMBINE_COUNT - 2, "each but SET and CONCAT, which move whole rows");

bool segment_row_at(int i, struct op *row)
{
    struct op_name sum;
    if (i == ROWS || !op_find("sparse_segment_sum", 18, &sum))
        return false;
    *row = *sum.op;
    row->name = rows[i].name;
    row->combine = rows[i].combine;
    row->dtypes = rows[i].dtypes;
    return true;
}
