/* What every processor of the architecture has. */
#define LEVEL      base
#define LEVEL_NAME "base"
#include "kernels/cpu/level.inc"
