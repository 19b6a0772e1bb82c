/* json_tensor_read: what data becomes which elements, in which memory. Data is written with ' for
 * ". */
#include "tests/support/proto/read_json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---------------------------------------------------------------------------------- good shapes */

static void data_is_flat_or_nested_as_its_shape(void **state)
{
    static const struct {
        const char *data;
        int count;
        int rank;
        int64_t shape[RANK_MAX];
    } rows[] = {
        {"[0,1,2,3,4,5]", 6, SHAPE(6)},
        {"[0,1,2,3,4,5]", 6, SHAPE(2, 3)},
        {"[[0,1,2],[3,4,5]]", 6, SHAPE(2, 3)},
        {" [ [ 0 , 1 , 2 ]\n, [3, 4 ,5] ] ", 6, SHAPE(2, 3)},
        {"[[[0],[1]],[[2],[3]]]", 4, SHAPE(2, 2, 1)},
        {"[[0]]", 1, SHAPE(1, 1)},
        {"0", 1, SCALAR},
        {"[0]", 1, SCALAR},
        {"[0]", 1, SHAPE(1)},
        {"[]", 0, SHAPE(0)},
        {"[]", 0, SHAPE(0, 3)},
        {"[]", 0, SHAPE(2, 0)},
        {"[]", 0, SHAPE(4611686018427387904, 4, 0)},
        {"[[],[]]", 0, SHAPE(2, 0)},
        {"[ [ ] , [ ] ]", 0, SHAPE(2, 0, 3)},
        {"[[[],[]]]", 0, SHAPE(1, 2, 0)},
        {"[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]", 1,
         SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct read_json a;
        read_json_init(&a, DTYPE_INT32, rows[i].rank, rows[i].shape);
        read_json_data(&a, rows[i].data);
        if (a.code)
            fail_msg("%s: %s", rows[i].data, a.error.message);
        const int32_t *elements = a.tensor.data;
        for (int k = 0; k < rows[i].count; k++)
            assert_int_equal(elements[k], k);
        assert_int_equal(a.tensor.rank, rows[i].rank);
        read_json_release(&a);
    }
}

static void a_missing_shape_is_the_nesting(void **state)
{
    static const struct {
        const char *data;
        int rank;
        int64_t shape[RANK_MAX];
    } rows[] = {
        {"7", SCALAR},
        {"[7]", SHAPE(1)},
        {"[1,2,3]", SHAPE(3)},
        {"[[1,2,3],[4,5,6]]", SHAPE(2, 3)},
        {"[[[1],[2]]]", SHAPE(1, 2, 1)},
        {"[]", SHAPE(0)},
        {"[[],[]]", SHAPE(2, 0)},
        {"[[[]]]", SHAPE(1, 1, 0)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct read_json a;
        read_json_init(&a, DTYPE_FP32, -1, NULL);
        read_json_data(&a, rows[i].data);
        if (a.code)
            fail_msg("%s: %s", rows[i].data, a.error.message);
        assert_int_equal(a.tensor.rank, rows[i].rank);
        assert_memory_equal(a.tensor.shape, rows[i].shape,
                            (size_t)rows[i].rank * sizeof(rows[i].shape[0]));
        read_json_release(&a);
    }
}

/* ------------------------------------------------------------------------------------- elements */

static void booleans(void **state)
{
    static const uint8_t expected[] = {1, 0, 0, 1, 1, 1};
    struct read_json a;
    (void)state;
    read_json_init(&a, DTYPE_BOOL, -1, NULL);
    read_json_data(&a, "[true, false ,0,1,1.0,true]");
    assert_int_equal(a.code, ERROR_NONE);
    assert_memory_equal(a.tensor.data, expected, sizeof(expected));
    read_json_release(&a);
}

static void words_stand_for_floats(void **state)
{
    static const char data[] = "[1,NaN , Infinity,-Infinity,'NaN','Infinity','-Infinity',-1.5]";
    static const struct {
        enum dtype dtype;
        uint64_t bits[8];
    } rows[] = {
        {DTYPE_FP16, {0x3C00, 0x7E00, 0x7C00, 0xFC00, 0x7E00, 0x7C00, 0xFC00, 0xBE00}},
        {DTYPE_BF16, {0x3F80, 0x7FC0, 0x7F80, 0xFF80, 0x7FC0, 0x7F80, 0xFF80, 0xBFC0}},
        {DTYPE_FP32,
         {0x3F800000, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800000, 0xFF800000,
          0xBFC00000}},
        {DTYPE_FP64,
         {0x3FF0000000000000, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000,
          0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 0xBFF8000000000000}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t bytes = dtype_bytes(rows[i].dtype);
        struct read_json a;
        read_json_init(&a, rows[i].dtype, -1, NULL);
        read_json_data(&a, data);
        assert_int_equal(a.code, ERROR_NONE);
        assert_true(a.bare);
        for (size_t k = 0; k < 8; k++)
            assert_memory_equal((char *)a.tensor.data + k * bytes, &rows[i].bits[k], bytes);
        read_json_release(&a);
    }
}

static void strings_are_no_bare_tokens(void **state)
{
    struct read_json a;
    (void)state;
    read_json_init(&a, DTYPE_FP32, -1, NULL);
    read_json_data(&a, "['NaN',1,'-Infinity']");
    assert_int_equal(a.code, ERROR_NONE);
    assert_false(a.bare);
    read_json_release(&a);
    read_json_init(&a, DTYPE_FP64, -1, NULL);
    read_json_data(&a, "-Infinity");
    assert_int_equal(a.code, ERROR_NONE);
    assert_true(a.bare);
    assert_true(isinf(*(double *)a.tensor.data));
    read_json_release(&a);
}

static void bytes_are_the_strings_values(void **state)
{
    static const struct {
        const char *value;
        size_t size;
    } expected[] = {{"", 0},
                    {"ab", 2},
                    {"a,b],[", 6},
                    {"q\"\\/", 4},
                    {"\b\f\n\r\t", 5},
                    {"\0x", 2},
                    {"\xC3\xA9", 2},
                    {"\xC3\xA9\xE2\x82\xAC", 5},
                    {"\xF0\x9F\x98\x80!", 5}};
    struct read_json a;
    (void)state;
    read_json_init(&a, DTYPE_BYTES, 2, (int64_t[]){3, 3});
    read_json_data(&a, "['', 'ab' ,'a,b],[','q\\\"\\\\\\/','\\b\\f\\n\\r\\t','\\u0000x','\xC3\xA9',"
                       "'\\u00e9\\u20AC','\\uD83D\\ude00!']");
    if (a.code)
        fail_msg("%s", a.error.message);
    const struct span *spans = a.tensor.data;
    for (size_t k = 0; k < 9; k++) {
        assert_int_equal(spans[k].size, expected[k].size);
        assert_memory_equal(spans[k].data, expected[k].value, expected[k].size);
    }
    assert_ptr_equal(spans[1].data, strstr(a.text, "ab"));
    read_json_release(&a);
    read_json_init(&a, DTYPE_BYTES, -1, NULL);
    read_json_data(&a, "'one'");
    assert_int_equal(a.code, ERROR_NONE);
    assert_int_equal(a.tensor.rank, 0);
    assert_int_equal(((const struct span *)a.tensor.data)->size, 3);
    read_json_release(&a);
}

/* --------------------------------------------------------------------------------------- memory */

static void memory_is_aligned_and_has_head_room(void **state)
{
    struct read_json a;
    (void)state;
    read_json_init(&a, DTYPE_FP64, -1, NULL);
    read_json_data(&a, "[1,2,3]");
    assert_int_equal((uintptr_t)a.tensor.data % TENSOR_ALIGNMENT, 0);
    memset((char *)a.tensor.data - ANSWER_HEAD_ROOM, 0, ANSWER_HEAD_ROOM);
    assert_true(((double *)a.tensor.data)[2] == 3);
    read_json_release(&a);
}

static void memory_is_bounded_by_the_text_and_not_by_the_shape(void **state)
{
    struct read_json a;
    (void)state;
    read_json_init(&a, DTYPE_FP64, 1, (int64_t[]){1000000000000});
    read_json_data(&a, "[1,2,3]");
    assert_int_equal(a.code, ERROR_SIZE_MISMATCH);
    assert_true(a.memory.bytes < 2 * ANSWER_HEAD_ROOM);
    read_json_release(&a);
    read_json_init(&a, DTYPE_BYTES, -1, NULL);
    char data[8192];
    memset(data, ',', sizeof(data));
    memcpy(data, "['", 2);
    strcpy(data + sizeof(data) - 3, "']");
    read_json_data(&a, data);
    assert_int_equal(a.code, ERROR_NONE);
    assert_true(a.memory.bytes < ANSWER_HEAD_ROOM + 4 * sizeof(data));
    read_json_release(&a);
}

static void no_memory_is_an_error(void **state)
{
    enum error_code code = ERROR_RESOURCE_EXHAUSTED;
    size_t n;
    (void)state;
    for (n = 1; code == ERROR_RESOURCE_EXHAUSTED; n++) {
        struct read_json a;
        read_json_init(&a, DTYPE_BYTES, -1, NULL);
        a.memory.fail_at = n;
        read_json_data(&a, "['a','\\n']");
        code = a.code;
        read_json_release(&a);
    }
    assert_int_equal(code, ERROR_NONE);
    assert_true(n > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_is_flat_or_nested_as_its_shape),
        cmocka_unit_test(a_missing_shape_is_the_nesting),
        cmocka_unit_test(booleans),
        cmocka_unit_test(words_stand_for_floats),
        cmocka_unit_test(strings_are_no_bare_tokens),
        cmocka_unit_test(bytes_are_the_strings_values),
        cmocka_unit_test(memory_is_aligned_and_has_head_room),
        cmocka_unit_test(memory_is_bounded_by_the_text_and_not_by_the_shape),
        cmocka_unit_test(no_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
