/* levels: the tables that level.inc makes. */
#ifndef KERNELS_CPU_LEVELS_H
#define KERNELS_CPU_LEVELS_H

#include "kernels/cpu/level.h"

extern const struct level level_base;
#ifdef __x86_64__
extern const struct level level_avx2;
#endif

#endif
