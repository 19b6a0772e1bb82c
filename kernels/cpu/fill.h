/* fill: writing many bytes, with looks at plan.options.stop. */
#ifndef KERNELS_CPU_FILL_H
#define KERNELS_CPU_FILL_H

#include "kernels/plan.h"

/* What is larger than this is written past the caches: it would push out what is still needed and
 * not stay itself. */
enum { FILL_STREAM_BYTES = 8 << 20 };

/* Writes the start value of the output's bytes [from, to): zeros, or what the op starts from unless
 * it is there already. `stream`: past the caches. */
void fill_start(const struct plan *plan, size_t from, size_t to, bool stream);

/* Writes zeros over bytes [from, to) of the output. */
void fill_zeros(const struct plan *plan, size_t from, size_t to, bool stream);

#endif
