/* check: everything that an element of an input can get wrong, found before anything is written.
 * In this order: segment ids, indices, division by zero. */
#ifndef KERNELS_CHECK_H
#define KERNELS_CHECK_H

#include "kernels/plan.h"

/* Checks the ids of segments, where there are any, and sets plan->rows.segment, or, where the ids
 * are what updates go to, plan->rows.destination. Ids that must not decrease: one pass finds the
 * first below the one before it (SEGMENT_IDS_NOT_SORTED); sorted ids are negative if the first is,
 * and a binary search finds the first that is not below num_segments (SEGMENT_ID_OUT_OF_RANGE). Ids
 * in any order: one pass finds that one. CANCELLED when plan->options.stop says so. */
MUST_CHECK enum error_code check_segment_ids(struct plan *plan, struct error *error);

/* Checks every index, where there are any, and makes plan->rows.destination, in one pass. Bad rows:
 * under ignore_bad they become -1 and are counted in plan->ignored, else INDEX_OUT_OF_BOUNDS; then
 * the indices may be partly overwritten. CANCELLED when plan->options.stop says so. */
MUST_CHECK enum error_code check_indices(struct plan *plan, struct error *error);

/* Whether zeros among the updates are errors: integers are divided by them. */
bool check_divides(const struct plan *plan);

/* DIVISION_BY_ZERO for the first row that is applied and holds an integer zero. After
 * check_indices. */
MUST_CHECK enum error_code check_division(const struct plan *plan, struct error *error);

/* Makes all checks above. */
MUST_CHECK enum error_code check_run(struct plan *plan, struct error *error);

#endif
