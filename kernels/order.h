/* order: segment ids in any order, sorted, so that the rows of one segment stand together. Stable:
 * a segment's rows keep the order of the request, whatever the number of threads. */
#ifndef KERNELS_ORDER_H
#define KERNELS_ORDER_H

#include "kernels/plan.h"

/* Bytes that order_rows needs at plan->scratch; 0 for plans whose rows need no order. */
size_t order_bytes(const struct plan *plan);

/* Makes plan->rows.segment, the ids sorted, with those that drop their rows at the end, as the
 * number of segments; and plan->rows.destination, the row of the values that each stands for. No id
 * is above the last segment. Errors: CANCELLED when plan->options.stop says so. */
MUST_CHECK enum error_code order_rows(struct plan *plan, struct error *error);

#endif
