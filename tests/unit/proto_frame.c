/* frame: raw tensors become views into the bytes that hold them. */
#include "proto/request/frame.h"

#include "proto/request/request.h"
#include "tests/support/proto/test_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct test_memory memory;
static struct error error;
static _Alignas(64) char body[256];

static int setup(void **state)
{
    (void)state;
    test_memory_init(&memory);
    for (size_t i = 0; i < sizeof(body); i++)
        body[i] = (char)i;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_memory_clear(&memory);
    return 0;
}

static struct tensor vector(enum dtype dtype, int64_t count)
{
    return (struct tensor){.dtype = dtype, .rank = 1, .shape = {count}};
}

static enum error_code view(struct tensor *t, char *at, size_t bytes)
{
    return frame_view(t, "tensor", at, bytes, &memory.work, &error);
}

static void an_aligned_view_is_not_copied(void **state)
{
    struct tensor t = vector(DTYPE_FP32, 4);
    (void)state;
    assert_int_equal(view(&t, body + 4, 16), ERROR_NONE);
    assert_ptr_equal(t.data, body + 4);
    assert_int_equal(memory.gets, 0);
}

/* Every type at every offset: views where it is aligned, else moved with head room in front. */
static void a_view_that_is_not_aligned_is_moved_once(void **state)
{
    static const struct {
        enum dtype dtype;
        size_t bytes, alignment;
    } rows[] = {
        {DTYPE_BOOL, 1, 1},  {DTYPE_UINT8, 1, 1}, {DTYPE_FP16, 2, 2},  {DTYPE_BF16, 2, 2},
        {DTYPE_INT16, 2, 2}, {DTYPE_INT32, 4, 4}, {DTYPE_FP32, 4, 4},  {DTYPE_INT64, 8, 8},
        {DTYPE_FP64, 8, 8},  {DTYPE_C64, 8, 4},   {DTYPE_C128, 16, 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t offset = 0; offset < 16; offset++) {
            struct tensor t = vector(rows[i].dtype, 3);
            bool moved = offset % rows[i].alignment != 0;
            test_memory_clear(&memory);
            assert_int_equal(view(&t, body + offset, 3 * rows[i].bytes), ERROR_NONE);
            assert_int_equal(memory.gets, moved);
            assert_int_equal((uintptr_t)t.data % rows[i].alignment, 0);
            assert_memory_equal(t.data, body + offset, 3 * rows[i].bytes);
            if (moved)
                memset((char *)t.data - ANSWER_HEAD_ROOM, 0, ANSWER_HEAD_ROOM);
        }
    }
}

static void sizes_are_exact(void **state)
{
    struct tensor t = vector(DTYPE_FP32, 4);
    (void)state;
    assert_int_equal(view(&t, body, 15), ERROR_SIZE_MISMATCH);
    assert_int_equal(view(&t, body, 17), ERROR_SIZE_MISMATCH);
    assert_string_equal(error.message, "tensor has 17 bytes, but FP32 of shape [4] needs 16");
    assert_string_equal(error.input, "tensor");
}

static void empty_tensors_and_scalars(void **state)
{
    struct tensor t = {.dtype = DTYPE_FP64, .rank = 2, .shape = {0, 5}};
    struct tensor scalar = {.dtype = DTYPE_INT16, .rank = 0};
    (void)state;
    assert_int_equal(view(&t, body, 0), ERROR_NONE);
    assert_int_equal(view(&t, body, 8), ERROR_SIZE_MISMATCH);
    assert_int_equal(view(&scalar, body, 2), ERROR_NONE);
    assert_int_equal(view(&scalar, body, 0), ERROR_SIZE_MISMATCH);
}

static void a_shape_beyond_64_bits_is_a_size_that_does_not_match(void **state)
{
    struct tensor t = {
        .dtype = DTYPE_FP32, .rank = 2, .shape = {(int64_t)1 << 33, (int64_t)1 << 33}};
    (void)state;
    assert_int_equal(view(&t, body, 16), ERROR_SIZE_MISMATCH);
    t.dtype = DTYPE_BYTES;
    assert_int_equal(view(&t, body, 16), ERROR_SIZE_MISMATCH);
}

static void strings_are_spans_into_the_body(void **state)
{
    struct tensor t = {.dtype = DTYPE_BYTES, .rank = 2, .shape = {1, 3}};
    static char packed[] = "\x02\0\0\0ab\0\0\0\0\x01\0\0\0z";
    const struct span *spans;
    (void)state;
    assert_int_equal(view(&t, packed, 15), ERROR_NONE);
    spans = t.data;
    assert_ptr_equal(spans[0].data, packed + 4);
    assert_int_equal(spans[0].size, 2);
    assert_int_equal(spans[1].size, 0);
    assert_int_equal(spans[2].size, 1);
    assert_memory_equal(spans[2].data, "z", 1);
    memset((char *)t.data - ANSWER_HEAD_ROOM, 0, ANSWER_HEAD_ROOM);
}

static void strings_end_where_their_bytes_end(void **state)
{
    static char packed[] = "\x02\0\0\0ab\0\0\0\0\x01\0\0\0z";
    (void)state;
    for (int64_t count = 0; count <= 4; count++) {
        for (size_t bytes = 0; bytes <= 15; bytes++) {
            static const size_t right[] = {0, 6, 10, 15};
            struct tensor t = vector(DTYPE_BYTES, count);
            bool good = count <= 3 && bytes == right[count];
            assert_int_equal(view(&t, packed, bytes), good ? ERROR_NONE : ERROR_SIZE_MISMATCH);
        }
    }
}

static void a_length_that_lies_reads_nothing(void **state)
{
    struct tensor t = vector(DTYPE_BYTES, 1);
    char packed[8] = "\xff\xff\xff\xff";
    (void)state;
    assert_int_equal(view(&t, packed, sizeof(packed)), ERROR_SIZE_MISMATCH);
    assert_string_equal(error.message, "tensor has 8 bytes, which end within element 0 of 1");
}

/* An element takes four bytes: a wild shape is refused before memory is asked for. */
static void many_strings_in_few_bytes_cost_nothing(void **state)
{
    struct tensor t = vector(DTYPE_BYTES, INT64_MAX);
    (void)state;
    assert_int_equal(view(&t, body, 100), ERROR_SIZE_MISMATCH);
    assert_int_equal(memory.gets, 0);
}

static void tensors_follow_one_another(void **state)
{
    struct frame frame = {body, 24};
    struct tensor a = vector(DTYPE_FP32, 4), b = vector(DTYPE_INT64, 1);
    (void)state;
    assert_int_equal(frame_take(&frame, &a, "tensor", 16, &memory.work, &error), ERROR_NONE);
    assert_int_equal(frame_end(&frame, &error), ERROR_SIZE_MISMATCH);
    assert_non_null(strstr(error.message, "8 bytes"));
    assert_int_equal(frame_take(&frame, &b, "indices", 8, &memory.work, &error), ERROR_NONE);
    assert_ptr_equal(b.data, body + 16);
    assert_int_equal(frame_end(&frame, &error), ERROR_NONE);
}

static void a_tensor_larger_than_what_is_left_is_refused(void **state)
{
    struct frame frame = {body, 12};
    struct tensor t = vector(DTYPE_FP32, 4);
    (void)state;
    assert_int_equal(frame_take(&frame, &t, "updates", 16, &memory.work, &error),
                     ERROR_SIZE_MISMATCH);
    assert_string_equal(
        error.message, "binary_data_size of updates is 16, but only 12 bytes are left in the body");
}

static void a_raised_flag_stops_it(void **state)
{
    atomic_bool stop = true;
    struct tensor t = vector(DTYPE_BYTES, 1);
    (void)state;
    memory.work.stop = &stop;
    memset(body, 0, 4);
    assert_int_equal(view(&t, body, 4), ERROR_CANCELLED);
}

static void every_lack_of_memory_is_an_error(void **state)
{
    struct tensor t = vector(DTYPE_INT64, 1), strings = vector(DTYPE_BYTES, 1);
    (void)state;
    memory.limit = 0;
    memset(body, 0, 4);
    assert_int_equal(view(&t, body + 1, 8), ERROR_RESOURCE_EXHAUSTED);
    assert_int_equal(view(&strings, body, 4), ERROR_RESOURCE_EXHAUSTED);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_aligned_view_is_not_copied),
        TEST(a_view_that_is_not_aligned_is_moved_once),
        TEST(sizes_are_exact),
        TEST(empty_tensors_and_scalars),
        TEST(a_shape_beyond_64_bits_is_a_size_that_does_not_match),
        TEST(strings_are_spans_into_the_body),
        TEST(strings_end_where_their_bytes_end),
        TEST(a_length_that_lies_reads_nothing),
        TEST(many_strings_in_few_bytes_cost_nothing),
        TEST(tensors_follow_one_another),
        TEST(a_tensor_larger_than_what_is_left_is_refused),
        TEST(a_raised_flag_stops_it),
        TEST(every_lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
