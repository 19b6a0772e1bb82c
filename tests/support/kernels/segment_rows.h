/* segment_rows: segment operations of every combine that no row of the table has under that name.
 * The reference knows each by the end of its name. */
#ifndef TESTS_SUPPORT_KERNELS_SEGMENT_ROWS_H
#define TESTS_SUPPORT_KERNELS_SEGMENT_ROWS_H

#include "kernels/op.h"

/* Makes the next row from *i on, at first 0; false when there are no more. */
bool segment_row_next(int *i, struct op *row);

#endif
