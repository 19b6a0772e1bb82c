/* Picks: every update of a share, once, in order, with rows to prefetch behind them. */
#include "kernels/cpu/picks.h"
#include "tests/support/kernels/tensors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Picks rows [low, high) of 10 from `count` updates k -> k * 7 % 10 and checks each. */
static void check_share(int64_t count, int64_t low, int64_t high, int64_t columns, int bits)
{
    int32_t *narrow = malloc((size_t)count * 4 + 1);
    int64_t *wide = malloc((size_t)count * 8 + 1);
    for (int64_t k = 0; k < count; k++)
        narrow[k] = (int32_t)(wide[k] = k % 11 == 3 ? -1 : k * 7 % 10);
    struct plan plan = {.rows = {.count = count,
                                 .width = columns,
                                 .destination = bits == 32 ? (void *)narrow : (void *)wide,
                                 .destination_bits = bits}};
    struct share share = {.plan = &plan, .low = low, .high = high, .columns = columns};
    struct picks picks;
    int64_t n = 0, k = -1;
    picks.count = picks.next = 0;
    while ((n = picks_more(&picks, &share, n)) > 0)
        for (int64_t i = 0; i < n; i++) {
            do
                k++;
            while (wide[k] < low || wide[k] >= high);
            assert_int_equal(picks.update[i], k);
            assert_int_equal(picks.row[i], wide[k]);
            assert_in_range(picks.row[i + PICKS_AHEAD], low, high - 1);
        }
    for (k++; k < count; k++)
        assert_true(wide[k] < low || wide[k] >= high);
    free(narrow);
    free(wide);
}

static void shares_get_their_updates_in_order(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 15, 16, 17, 511, 512, 513, 528, 5000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (int bits = 32; bits <= 64; bits += 32) {
            check_share(counts[c], 0, 10, 1, bits);
            check_share(counts[c], 3, 4, 1, bits);
            check_share(counts[c], 5, 10, 100, bits);
            check_share(counts[c], 7, 7, 1, bits);
            check_share(counts[c], 0, 10, 100000, bits);
        }
}

static void all_updates_are_picked_as_they_are(void **state)
{
    (void)state;
    enum { N = 1500 };
    int32_t rows[N];
    for (int k = 0; k < N; k++)
        rows[k] = k * 7 % 10;
    struct plan plan = {
        .rows = {.count = N, .width = 1, .destination = rows, .destination_bits = 32}};
    struct share share = {.plan = &plan, .high = 10, .columns = 1, .all = true};
    struct picks picks;
    int64_t n = 0, k = 0;
    picks.count = picks.next = 0;
    while ((n = picks_more(&picks, &share, n)) > 0)
        for (int64_t i = 0; i < n; i++, k++) {
            assert_int_equal(picks.update[i], k);
            assert_int_equal(picks.row[i], rows[k]);
        }
    assert_int_equal(k, N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_get_their_updates_in_order),
        cmocka_unit_test(all_updates_are_picked_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
