/* segment_rows: segment operations of every combine, also of those that no row of the table has.
 * The reference knows each by the end of its name. */
#ifndef TESTS_SUPPORT_KERNELS_SEGMENT_ROWS_H
#define TESTS_SUPPORT_KERNELS_SEGMENT_ROWS_H

#include "kernels/op.h"

/* Makes row i; false when there are no more. */
bool segment_row_at(int i, struct op *row);

#endif
