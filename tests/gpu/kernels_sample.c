/* A fixed sample of a hundred random cases of all sizes, for the runs that vary what chance decides
 * on a device: the order of threads, and with race detection. */
#include "tests/gpu/support/random_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void sample_is_bit_equal_to_the_cpu(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 90; seed++)
        random_case_check(backend_cuda(), NULL, NULL, 1000 + seed, SIZE_TINY);
    for (int size = SIZE_TINY + 1; size < SIZE_COUNT; size++)
        for (uint64_t seed = 0; seed < 5; seed++)
            random_case_check(backend_cuda(), NULL, NULL, 2000 + seed, (enum size)size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_is_bit_equal_to_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
