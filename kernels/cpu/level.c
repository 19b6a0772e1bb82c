#include "kernels/cpu/level.h"
#include "kernels/cpu/levels.h"

const struct level *level_best(void)
{
    return &level_base;
}
