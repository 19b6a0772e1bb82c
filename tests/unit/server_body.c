/* body: placed so that tensors are aligned, grown by doubling, bounded. */
#include "server/memory/body.h"

#include "proto/request/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KIB = 1024, MIB = 1024 * KIB };

static struct {
    struct blocks blocks;
    struct budget budget;
    struct arena arena;
    struct body body;
    struct error error;
} f;

static int set_up(void **state)
{
    (void)state;
    blocks_init(&f.blocks, 64 * MIB);
    budget_init(&f.budget, 32 * MIB);
    arena_init(&f.arena, &f.blocks, &f.budget, blocks_get(&f.blocks, 31 * KIB));
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

static enum error_code open_body(int64_t length, int64_t header_length)
{
    return body_open(&f.body, &f.arena, length, header_length, 20 * MIB, "max_body", &f.error);
}

static void the_first_tensor_is_aligned(void **state)
{
    static const int64_t lengths[] = {0, 300, 70000, 3 * MIB};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int64_t h = -1; h < 200; h += 67) {
            int64_t start = h < 0 ? 0 : h;
            assert_int_equal(open_body(lengths[i], h), ERROR_NONE);
            assert_int_equal((uintptr_t)(f.body.bytes + start) % TENSOR_ALIGNMENT, 0);
            memset(f.body.bytes - ANSWER_HEAD_ROOM, 1, ANSWER_HEAD_ROOM + (size_t)lengths[i]);
            body_close(&f.body);
            tear_down(NULL);
            set_up(NULL);
        }
}

static void a_small_body_lies_in_the_home_block(void **state)
{
    (void)state;
    assert_int_equal(open_body(1000, -1), ERROR_NONE);
    assert_null(f.body.block);
    assert_int_equal(budget_used(&f.budget), 0);
}

static void what_a_closed_body_leaves_is_memory(void **state)
{
    (void)state;
    assert_int_equal(open_body(100 * KIB, -1), ERROR_NONE);
    struct block *block = f.body.block;
    assert_int_equal(body_append(&f.body, "x", 1, &f.error), ERROR_NONE);
    body_close(&f.body);
    assert_int_equal(block->used, ANSWER_HEAD_ROOM + 64);
}

static void a_body_of_unknown_length_grows_and_stays_whole(void **state)
{
    enum { PIECE = 1000, PIECES = 5000 };
    char piece[PIECE];
    (void)state;
    assert_int_equal(open_body(-1, 5), ERROR_NONE);
    for (int i = 0; i < PIECES; i++) {
        memset(piece, i % 251, PIECE);
        assert_int_equal(body_append(&f.body, piece, PIECE, &f.error), ERROR_NONE);
    }
    assert_int_equal(f.body.size, PIECE * PIECES);
    for (int i = 0; i < PIECES; i++)
        for (int j = 0; j < PIECE; j++)
            assert_int_equal((unsigned char)f.body.bytes[i * PIECE + j], i % 251);
    assert_int_equal((uintptr_t)(f.body.bytes + 5) % TENSOR_ALIGNMENT, 0);
    /* The blocks that it outgrew are given back. */
    assert_int_equal(f.arena.reserved_bytes, block_cost(f.body.block));
}

static void over_the_limit_is_too_large_and_names_it(void **state)
{
    (void)state;
    assert_int_equal(open_body(20 * MIB + 1, -1), ERROR_PAYLOAD_TOO_LARGE);
    assert_string_equal(f.error.message,
                        "the body has 20971521 bytes, the limit max_body is 20971520");
    assert_int_equal(open_body(INT64_MAX, -1), ERROR_PAYLOAD_TOO_LARGE);
    assert_int_equal(open_body(20 * MIB, -1), ERROR_NONE);
}

static void an_unknown_length_meets_the_limit_while_it_comes(void **state)
{
    char *piece = calloc(1, 21 * MIB);
    (void)state;
    assert_int_equal(open_body(-1, -1), ERROR_NONE);
    assert_int_equal(body_append(&f.body, piece, 20 * MIB, &f.error), ERROR_NONE);
    assert_int_equal(body_append(&f.body, piece, 1, &f.error), ERROR_PAYLOAD_TOO_LARGE);
    free(piece);
}

static void over_all_memory_is_too_large_and_no_room_now_is_not(void **state)
{
    (void)state;
    enum error_code code =
        body_open(&f.body, &f.arena, 100 * MIB, -1, 200 * MIB, "max_body", &f.error);
    assert_int_equal(code, ERROR_PAYLOAD_TOO_LARGE);
    assert_non_null(strstr(f.error.message, "the limit memory is 33554432"));
    assert_true(budget_reserve(&f.budget, 20 * MIB, false));
    assert_int_equal(open_body(15 * MIB, -1), ERROR_RESOURCE_EXHAUSTED);
    budget_give_back(&f.budget, 20 * MIB);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_first_tensor_is_aligned),
        TEST(a_small_body_lies_in_the_home_block),
        TEST(what_a_closed_body_leaves_is_memory),
        TEST(a_body_of_unknown_length_grows_and_stays_whole),
        TEST(over_the_limit_is_too_large_and_names_it),
        TEST(an_unknown_length_meets_the_limit_while_it_comes),
        TEST(over_all_memory_is_too_large_and_no_room_now_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
