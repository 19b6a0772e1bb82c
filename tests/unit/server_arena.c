/* arena, budget: memory of one request, reserved before it is taken. */
#include "server/memory/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { KIB = 1024, MIB = 1024 * KIB };

struct fixture {
    struct blocks blocks;
    struct budget budget;
    struct arena arena;
};

static struct fixture f;

static int set_up(void **state)
{
    (void)state;
    blocks_init(&f.blocks, 64 * MIB);
    budget_init(&f.budget, 16 * MIB);
    arena_init(&f.arena, &f.blocks, &f.budget, blocks_get(&f.blocks, 15 * KIB));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&f.arena);
    blocks_put(&f.blocks, f.arena.chain);
    assert_int_equal(budget_used(&f.budget), 0);
    blocks_release(&f.blocks);
    return 0;
}

static void small_pieces_come_from_the_home_block(void **state)
{
    (void)state;
    char *a = arena_get(&f.arena, 10), *b = arena_get(&f.arena, 100);
    assert_ptr_equal(b, a + 64);
    assert_int_equal((uintptr_t)a % TENSOR_ALIGNMENT, 0);
    assert_int_equal(budget_used(&f.budget), 0);
}

static void more_is_reserved_in_the_budget(void **state)
{
    (void)state;
    assert_non_null(arena_get(&f.arena, MIB));
    assert_int_equal(budget_used(&f.budget), blocks_cost(MIB));
    assert_int_equal(f.arena.reserved_bytes, blocks_cost(MIB));
}

static void what_does_not_fit_the_budget_is_refused(void **state)
{
    (void)state;
    assert_null(arena_get(&f.arena, 17 * MIB));
    assert_null(arena_get(&f.arena, SIZE_MAX));
    assert_null(arena_get(&f.arena, SIZE_MAX - 100));
    assert_false(arena_reserve(&f.arena, 17 * MIB));
    assert_int_equal(budget_used(&f.budget), 0);
}

static void large_requests_leave_a_part_for_small_ones(void **state)
{
    (void)state;
    assert_true(budget_reserve(&f.budget, 15 * MIB, false));
    assert_false(budget_reserve(&f.budget, 1, false));
    assert_true(budget_reserve(&f.budget, MIB, true));
    assert_false(budget_reserve(&f.budget, 1, true));
    assert_true(budget_fits(&f.budget, 16 * MIB, true));
    assert_false(budget_fits(&f.budget, 16 * MIB, false));
    budget_give_back(&f.budget, 16 * MIB);
}

static void after_a_reservation_gets_succeed(void **state)
{
    (void)state;
    assert_true(arena_reserve(&f.arena, MIB));
    assert_true(budget_reserve(&f.budget, f.budget.limit - budget_used(&f.budget), true));
    for (int i = 0; i < 16; i++)
        assert_non_null(arena_get(&f.arena, 64 * KIB));
    budget_give_back(&f.budget, f.budget.limit - f.arena.reserved_bytes);
}

static void a_block_can_go_early(void **state)
{
    (void)state;
    struct block *one = arena_add(&f.arena, MIB), *two = arena_add(&f.arena, 100 * KIB);
    assert_non_null(one);
    assert_non_null(two);
    arena_drop(&f.arena, one);
    assert_int_equal(budget_used(&f.budget), block_cost(two));
    assert_ptr_equal(f.arena.chain, two);
}

static void a_client_holds_no_more_than_its_share(void **state)
{
    struct budget share;
    const char *setting;
    (void)state;
    budget_init(&share, 2 * MIB);
    f.arena.share = &share;
    assert_non_null(arena_get(&f.arena, MIB));
    assert_int_equal(budget_used(&share), budget_used(&f.budget));
    assert_null(arena_get(&f.arena, MIB));
    assert_ptr_equal(arena_bound(&f.arena, MIB, &setting), &share);
    assert_string_equal(setting, "client_share");
    assert_int_equal(budget_used(&share), f.arena.reserved_bytes);
    arena_release(&f.arena);
    assert_int_equal(budget_used(&share), 0);
}

static void what_the_server_lacks_is_not_taken_from_the_share(void **state)
{
    struct budget share;
    const char *setting;
    (void)state;
    budget_init(&share, 64 * MIB);
    f.arena.share = &share;
    assert_null(arena_get(&f.arena, 17 * MIB));
    assert_int_equal(budget_used(&share), 0);
    assert_ptr_equal(arena_bound(&f.arena, 17 * MIB, &setting), &f.budget);
    assert_string_equal(setting, "memory");
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(small_pieces_come_from_the_home_block),
        TEST(more_is_reserved_in_the_budget),
        TEST(what_does_not_fit_the_budget_is_refused),
        TEST(large_requests_leave_a_part_for_small_ones),
        TEST(after_a_reservation_gets_succeed),
        TEST(a_block_can_go_early),
        TEST(a_client_holds_no_more_than_its_share),
        TEST(what_the_server_lacks_is_not_taken_from_the_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
