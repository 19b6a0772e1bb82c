/* inflate: compressed bodies, whole and damaged, and never more of them than is allowed. */
#include "proto/request/inflate.h"

#include "proto/request/request.h"
#include "tests/support/proto/test_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

enum { GZIP_BITS = 15 + 16, ZLIB_BITS = 15, PLAIN_MAX = 3 << 20, PACKED_MAX = PLAIN_MAX + 65536 };

static char plain[PLAIN_MAX], packed[PACKED_MAX];
static struct test_memory memory;
static struct inflated inflated;
static struct error error;

static int setup(void **state)
{
    (void)state;
    test_memory_init(&memory);
    for (size_t i = 0; i < sizeof(plain); i++)
        plain[i] = (char)(i * i >> 7);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_memory_clear(&memory);
    return 0;
}

/* Appends plain[0..size) as one compressed stream at `at` and returns the new end. */
static size_t pack(int bits, size_t size, size_t at)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)plain;
    z.avail_in = (uInt)size;
    z.next_out = (Bytef *)packed + at;
    z.avail_out = (uInt)(sizeof(packed) - at);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    at += z.total_out;
    deflateEnd(&z);
    return at;
}

static enum error_code unpack(enum coding coding, size_t size, size_t lead, size_t limit)
{
    /* In memory of exactly its size, so that a sanitizer sees a read too far. */
    char *body = malloc(size ? size : 1);
    memcpy(body, packed, size);
    enum error_code code =
        inflate_body(&inflated, coding, body, size, lead, (struct inflate_limit){limit, "max_body"},
                     &memory.work, &error);
    free(body);
    return code;
}

static void expect_plain(size_t size)
{
    assert_int_equal(inflated.size, size);
    assert_memory_equal(inflated.data, plain, size);
}

static void both_codings_of_every_size(void **state)
{
    static const size_t sizes[] = {0, 1, 100, 4096, 4097, 262144, 262145, PLAIN_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_int_equal(unpack(CODING_GZIP, pack(GZIP_BITS, sizes[i], 0), 0, PLAIN_MAX),
                         ERROR_NONE);
        expect_plain(sizes[i]);
        assert_int_equal(unpack(CODING_DEFLATE, pack(ZLIB_BITS, sizes[i], 0), 0, PLAIN_MAX),
                         ERROR_NONE);
        expect_plain(sizes[i]);
        test_memory_clear(&memory);
    }
}

static void what_follows_the_lead_is_aligned(void **state)
{
    size_t size = pack(GZIP_BITS, 1000, 0);
    (void)state;
    for (size_t lead = 0; lead < 200; lead += 7) {
        assert_int_equal(unpack(CODING_GZIP, size, lead, 1000), ERROR_NONE);
        assert_int_equal((uintptr_t)(inflated.data + lead) % TENSOR_ALIGNMENT, 0);
    }
}

static void there_is_head_room_in_front(void **state)
{
    (void)state;
    assert_int_equal(unpack(CODING_GZIP, pack(GZIP_BITS, 100, 0), 0, 1000), ERROR_NONE);
    memset(inflated.data - ANSWER_HEAD_ROOM, 1, ANSWER_HEAD_ROOM);
    expect_plain(100);
}

static void gzip_may_have_several_members(void **state)
{
    size_t end = pack(GZIP_BITS, 0, pack(GZIP_BITS, 100000, 0));
    (void)state;
    memmove(plain + 100000, plain, 500);
    end = pack(GZIP_BITS, 500, end);
    assert_int_equal(unpack(CODING_GZIP, end, 0, PLAIN_MAX), ERROR_NONE);
    expect_plain(100500);
}

static void bytes_after_the_end_are_refused(void **state)
{
    size_t end = pack(ZLIB_BITS, 100, 0);
    (void)state;
    packed[end] = 'x';
    assert_int_equal(unpack(CODING_DEFLATE, end + 1, 0, 1000), ERROR_INVALID_HEADER);
    assert_non_null(strstr(error.message, "deflate"));
    end = pack(GZIP_BITS, 100, 0);
    packed[end] = 'x';
    assert_int_equal(unpack(CODING_GZIP, end + 1, 0, 1000), ERROR_INVALID_HEADER);
}

static void every_prefix_is_refused(void **state)
{
    size_t end = pack(GZIP_BITS, 300, 0);
    (void)state;
    for (size_t size = 0; size < end; size++)
        assert_int_equal(unpack(CODING_GZIP, size, 0, 1000), ERROR_INVALID_HEADER);
}

static void damage_is_found(void **state)
{
    size_t end = pack(GZIP_BITS, 300, 0);
    (void)state;
    packed[end - 8] ^= 1; /* the checksum */
    assert_int_equal(unpack(CODING_GZIP, end, 0, 1000), ERROR_INVALID_HEADER);
    memcpy(packed, "{\"inputs\":[]}", 13); /* never compressed at all */
    assert_int_equal(unpack(CODING_GZIP, 13, 0, 1000), ERROR_INVALID_HEADER);
    assert_non_null(strstr(error.message, "gzip"));
}

static void the_limit_holds_to_the_byte(void **state)
{
    static const int bits[] = {GZIP_BITS, ZLIB_BITS};
    static const enum coding codings[] = {CODING_GZIP, CODING_DEFLATE};
    (void)state;
    for (int i = 0; i < 2; i++) {
        size_t size = pack(bits[i], 100000, 0);
        assert_int_equal(unpack(codings[i], size, 0, 100000), ERROR_NONE);
        expect_plain(100000);
        assert_int_equal(unpack(codings[i], size, 0, 99999), ERROR_PAYLOAD_TOO_LARGE);
        assert_non_null(strstr(error.message, "99999"));
        assert_non_null(strstr(error.message, "max_body"));
    }
}

/* A body that would grow a thousandfold is refused, and has taken little memory. */
static void a_bomb_takes_no_memory_beyond_the_limit(void **state)
{
    (void)state;
    memset(plain, 0, sizeof(plain));
    size_t size = pack(ZLIB_BITS, PLAIN_MAX, 0);
    assert_true(size < PLAIN_MAX / 500);
    assert_int_equal(unpack(CODING_DEFLATE, size, 0, 100000), ERROR_PAYLOAD_TOO_LARGE);
    assert_true(memory.bytes < 200000);
}

static void a_trailer_that_lies_costs_no_more_than_its_length_can_hold(void **state)
{
    size_t end = pack(GZIP_BITS, 100, 0);
    (void)state;
    memset(packed + end - 4, 0x7F, 4);
    assert_int_equal(unpack(CODING_GZIP, end, 0, (size_t)1 << 30), ERROR_INVALID_HEADER);
    assert_true(memory.bytes < 2000 * end);
}

static void memory_is_taken_for_the_result_and_a_guess(void **state)
{
    (void)state;
    memset(plain, 7, sizeof(plain)); /* compresses far better than any guess */
    size_t size = pack(ZLIB_BITS, 1000000, 0);
    assert_int_equal(unpack(CODING_DEFLATE, size, 0, PLAIN_MAX), ERROR_NONE);
    expect_plain(1000000);
    assert_true(memory.bytes < 1000000 + 100000);
    test_memory_clear(&memory);
    size = pack(GZIP_BITS, 1000000, 0);
    assert_int_equal(unpack(CODING_GZIP, size, 0, PLAIN_MAX), ERROR_NONE);
    assert_true(memory.bytes < 1000000 + 100000);
}

static void a_raised_flag_stops_it(void **state)
{
    atomic_bool stop = true;
    (void)state;
    memory.work.stop = &stop;
    assert_int_equal(unpack(CODING_GZIP, pack(GZIP_BITS, 100, 0), 0, 1000), ERROR_CANCELLED);
}

static void every_lack_of_memory_is_an_error(void **state)
{
    size_t gets;
    (void)state;
    memset(plain, 7, sizeof(plain));
    size_t size = pack(ZLIB_BITS, 100000, 0);
    assert_int_equal(unpack(CODING_DEFLATE, size, 0, PLAIN_MAX), ERROR_NONE);
    gets = memory.gets;
    assert_true(gets >= 4);
    for (size_t n = 1; n <= gets; n++) {
        test_memory_clear(&memory);
        memory.fail_at = n;
        assert_int_equal(unpack(CODING_DEFLATE, size, 0, PLAIN_MAX), ERROR_RESOURCE_EXHAUSTED);
    }
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(both_codings_of_every_size),
        TEST(what_follows_the_lead_is_aligned),
        TEST(there_is_head_room_in_front),
        TEST(gzip_may_have_several_members),
        TEST(bytes_after_the_end_are_refused),
        TEST(every_prefix_is_refused),
        TEST(damage_is_found),
        TEST(the_limit_holds_to_the_byte),
        TEST(a_bomb_takes_no_memory_beyond_the_limit),
        TEST(a_trailer_that_lies_costs_no_more_than_its_length_can_hold),
        TEST(memory_is_taken_for_the_result_and_a_guess),
        TEST(a_raised_flag_stops_it),
        TEST(every_lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
