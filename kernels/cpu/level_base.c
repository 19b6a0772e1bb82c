/* What every processor of the architecture has. */
#include "kernels/cpu/levels.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define LEVEL      level_base
#define LEVEL_NAME "base"
#include "kernels/cpu/level.inc"
