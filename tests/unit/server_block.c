/* block: recycled memory by size class. */
#include "server/memory/block.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { KIB = 1024, MIB = 1024 * KIB };

static void blocks_are_aligned_and_large_enough(void **state)
{
    static const size_t sizes[] = {1,       16 * KIB - 64, 16 * KIB,      100 * KIB,
                                   2 * MIB, 2 * MIB - 64,  5 * MIB + 123, 66 * MIB};
    struct blocks blocks;
    (void)state;
    blocks_init(&blocks, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct block *block = blocks_get(&blocks, sizes[i]);
        assert_non_null(block);
        assert_true(block->capacity >= sizes[i]);
        assert_int_equal(block_cost(block), blocks_cost(sizes[i]));
        assert_int_equal((uintptr_t)block->bytes % TENSOR_ALIGNMENT, 0);
        assert_int_equal(block->capacity % TENSOR_ALIGNMENT, 0);
        block->bytes[0] = block->bytes[block->capacity - 1] = 1;
        blocks_put(&blocks, block);
    }
    blocks_release(&blocks);
}

static void classes_waste_little(void **state)
{
    (void)state;
    for (size_t size = 16 * KIB; size < (size_t)1 << 40; size = size * 9 / 8 + 4097) {
        size_t cost = blocks_cost(size);
        assert_true(cost >= size + sizeof(struct block));
        if (size >= 16 * MIB)
            assert_true(cost <= size + size / 8 + 4 * MIB);
        else
            assert_true(cost <= 2 * (size + sizeof(struct block)) + 2 * MIB);
    }
}

static void sizes_beyond_all_classes_are_refused(void **state)
{
    struct blocks blocks;
    (void)state;
    blocks_init(&blocks, 0);
    assert_null(blocks_get(&blocks, SIZE_MAX));
    assert_null(blocks_get(&blocks, SIZE_MAX - 64));
    assert_null(blocks_get(&blocks, (size_t)1 << 42));
    assert_int_equal(blocks_cost(SIZE_MAX), SIZE_MAX);
    blocks_release(&blocks);
}

static void memory_that_there_is_not_is_no_crash(void **state)
{
    struct blocks blocks;
    (void)state;
    blocks_init(&blocks, 0);
    struct block *taken[1024];
    int count = 0;
    /* Address space ends before 1024 half terabytes. */
    while (count < 1024 && (taken[count] = blocks_get(&blocks, (size_t)1 << 39)))
        count++;
    assert_true(count < 1024);
    while (count > 0)
        blocks_put(&blocks, taken[--count]);
    blocks_release(&blocks);
}

static void a_block_is_handed_out_again(void **state)
{
    struct blocks blocks;
    (void)state;
    blocks_init(&blocks, 64 * MIB);
    struct block *first = blocks_get(&blocks, 3 * MIB);
    first->used = 17;
    blocks_put(&blocks, first);
    struct block *second = blocks_get(&blocks, 3 * MIB + 1000);
    assert_ptr_equal(first, second);
    assert_int_equal(second->used, 0);
    assert_null(second->next);
    assert_int_equal(blocks.cached_bytes, 0);
    blocks_put(&blocks, second);
    blocks_release(&blocks);
}

static void the_cache_is_bounded(void **state)
{
    struct blocks blocks;
    struct block *taken[4];
    (void)state;
    blocks_init(&blocks, 64 * KIB);
    for (int i = 0; i < 4; i++)
        taken[i] = blocks_get(&blocks, 30 * KIB);
    assert_int_equal(blocks.allocated_bytes, 4 * 32 * KIB);
    for (int i = 0; i < 4; i++)
        blocks_put(&blocks, taken[i]);
    assert_int_equal(blocks.cached_bytes, 64 * KIB);
    assert_int_equal(blocks.allocated_bytes, 64 * KIB);
    blocks_release(&blocks);
}

static void idle_blocks_go_back_after_a_whole_period(void **state)
{
    struct blocks blocks;
    struct block *taken[3];
    (void)state;
    blocks_init(&blocks, 64 * MIB);
    for (int i = 0; i < 3; i++)
        taken[i] = blocks_get(&blocks, MIB);
    for (int i = 0; i < 3; i++)
        blocks_put(&blocks, taken[i]);
    blocks_trim(&blocks); /* they were all in use in this period */
    assert_int_equal(blocks.cached_bytes, 3 * 2 * MIB);
    blocks_put(&blocks, blocks_get(&blocks, MIB)); /* one is in use in the next */
    blocks_trim(&blocks);
    assert_int_equal(blocks.cached_bytes, 2 * MIB);
    blocks_trim(&blocks);
    assert_int_equal(blocks.cached_bytes, 0);
    assert_int_equal(blocks.allocated_bytes, 0);
    blocks_release(&blocks);
}

static int pins, unpins;

static bool pin(void *data, size_t bytes)
{
    (void)data;
    pins++;
    return bytes < 16 * MIB; /* larger blocks cannot be pinned */
}

static void unpin(void *data)
{
    (void)data;
    unpins++;
}

static void large_blocks_are_pinned_where_that_is_wanted(void **state)
{
    static const struct backend backend = {.pin = pin, .unpin = unpin};
    static const size_t sizes[] = {100, MIB, 5 * MIB, 40 * MIB};
    struct blocks blocks;
    (void)state;
    blocks_init(&blocks, 0);
    blocks_pin(&blocks, &backend, 4 * MIB);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        blocks_put(&blocks, blocks_get(&blocks, sizes[i]));
    assert_int_equal(pins, 2);
    assert_int_equal(unpins, 1);
    blocks_release(&blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_large_enough),
        cmocka_unit_test(classes_waste_little),
        cmocka_unit_test(sizes_beyond_all_classes_are_refused),
        cmocka_unit_test(memory_that_there_is_not_is_no_crash),
        cmocka_unit_test(a_block_is_handed_out_again),
        cmocka_unit_test(the_cache_is_bounded),
        cmocka_unit_test(large_blocks_are_pinned_where_that_is_wanted),
        cmocka_unit_test(idle_blocks_go_back_after_a_whole_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
