/* Random operations of all kinds and sizes, bit-equal to the CPU; on fresh lanes, whose buffers end
 * where the data ends, and on one lane that is used for all. RANDOM_SEED=n draws others. */
#include "tests/gpu/support/random_case.h"
#include "tests/support/kernels/segment_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t first_seed(void)
{
    const char *given = getenv("RANDOM_SEED");
    return (given ? strtoull(given, NULL, 10) : 1) * 1000000;
}

static void check(struct lane *lane, int cases, enum size size)
{
    uint64_t first = first_seed();
    for (int i = 0; i < cases; i++)
        random_case_check(backend_cuda(), lane, NULL, first + (uint64_t)i, size);
}

static void tiny_cases_on_fresh_lanes(void **state)
{
    (void)state;
    check(NULL, 4000, SIZE_TINY);
}

static void larger_cases_on_fresh_lanes(void **state)
{
    (void)state;
    check(NULL, 60, SIZE_SORTED);
    check(NULL, 150, SIZE_SKEWED);
    check(NULL, 150, SIZE_WIDE);
    check(NULL, 12, SIZE_TILES);
}

static void all_sizes_on_one_lane(void **state)
{
    struct error error;
    struct lane *lane = backend_cuda()->open(0, SIZE_MAX, &error);
    (void)state;
    assert_non_null(lane);
    for (uint64_t seed = 0; seed < 200; seed++)
        random_case_check(backend_cuda(), lane, NULL, first_seed() + 500000 + seed,
                          seed % 10 ? SIZE_TINY : (enum size)(seed / 10 % SIZE_COUNT));
    backend_cuda()->close(lane);
}

/* Segment operations run with every combine, also with those that no row of the table has. */
static void segments_take_any_combine(void **state)
{
    (void)state;
    struct op row;
    for (int i = 0; segment_row_next(&i, &row);)
        for (uint64_t seed = 0; seed < 60; seed++)
            random_case_check(backend_cuda(), NULL, &row, 3000 + seed,
                              seed % 20 ? SIZE_TINY : SIZE_SKEWED);
}

int main(void)
{
    print_message("RANDOM_SEED=%llu\n", (unsigned long long)first_seed() / 1000000);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_cases_on_fresh_lanes),
        cmocka_unit_test(larger_cases_on_fresh_lanes),
        cmocka_unit_test(all_sizes_on_one_lane),
        cmocka_unit_test(segments_take_any_combine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
