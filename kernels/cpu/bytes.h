/* bytes: what is particular to BYTES elements, whose text has a size of its own. */
#ifndef KERNELS_CPU_BYTES_H
#define KERNELS_CPU_BYTES_H

#include "kernels/plan.h"

/* OUTPUT_TOO_LARGE when the output's elements, each with its size as on the wire,
 * exceed the limit. After check_run, before anything is written. Nothing for other types. */
MUST_CHECK enum error_code bytes_check(const struct plan *plan, struct error *error);

/* scatter_nd of BYTES: appends updates in request order. The text goes to scratch. */
void bytes_concat(const struct plan *plan);

/* Makes elements that no row gave a text the empty string. */
void bytes_fill_empty(const struct plan *plan);

#endif
