#include "kernels/cpu/levels.h"

#ifdef __x86_64__
#include <cpuid.h>

/* F16C came before AVX2 but is counted apart; not every compiler knows its name. */
static bool has_avx2(void)
{
    unsigned a, b, c, d;
    return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

int level_count(void)
{
    return has_avx2() ? 2 : 1;
}

const struct level *level_at(int i)
{
    static const struct level *const levels[] = {&level_base, &level_avx2};
    return levels[i];
}
#else
int level_count(void)
{
    return 1;
}

const struct level *level_at(int i)
{
    (void)i;
    return &level_base;
}
#endif

const struct level *level_best(void)
{
    return level_at(level_count() - 1);
}
