/* check: everything that an element of an input can get wrong, found before anything is written.
 * In this order: segment ids, indices, division by zero. */
#ifndef KERNELS_CHECK_H
#define KERNELS_CHECK_H

#include "kernels/plan.h"

/* Three whole passes over segment_ids: SEGMENT_IDS_NOT_SORTED, then SEGMENT_ID_OUT_OF_RANGE for a
 * negative one, then for one that is not below num_segments. Nothing for other ops. */
MUST_CHECK enum error_code check_segment_ids(const struct plan *plan, struct error *error);

/* Checks every index and makes plan->rows.destination, in one pass. Bad rows: under ignore_bad they
 * become -1 and are counted in plan->ignored, else INDEX_OUT_OF_BOUNDS; then the indices may be
 * partly overwritten. CANCELLED when plan->options.stop says so. */
MUST_CHECK enum error_code check_indices(struct plan *plan, struct error *error);

/* DIVISION_BY_ZERO for the first row that is applied and holds an integer zero. After
 * check_indices. */
MUST_CHECK enum error_code check_division(const struct plan *plan, struct error *error);

/* All of them. */
MUST_CHECK enum error_code check_run(struct plan *plan, struct error *error);

#endif
