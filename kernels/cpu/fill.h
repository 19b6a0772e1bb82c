/* fill: writing many bytes, with looks at plan.options.stop. */
#ifndef KERNELS_CPU_FILL_H
#define KERNELS_CPU_FILL_H

#include "kernels/plan.h"

/* Writes the start value of the output's bytes [from, to), whole elements: what the op starts from,
 * unless it is there already, or what no update reaches. `stream`: past the caches. */
void fill_start(const struct plan *plan, size_t from, size_t to, bool stream);

/* Writes what no update reaches over bytes [from, to) of the output: whole elements. */
void fill_empty(const struct plan *plan, size_t from, size_t to, bool stream);

/* Writes what no update reaches over `n` elements at `out`. */
void fill_elements(void *out, const struct plan *plan, int64_t n);

#endif
