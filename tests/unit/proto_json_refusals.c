/* json_tensor_read: what data is refused, and how: the code, the sentence, the place. Data is
 * written with ' for ", and stands in its request from byte 19 on. */
#include "tests/support/proto/read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct refusal {
    enum dtype dtype;
    const char *data;
    enum error_code code;
    const char *sentence; /* part of it */
    int rank;             /* -1: no shape */
    int64_t shape[RANK_MAX];
    int position_rank;
    int64_t position[RANK_MAX];
};

static void expect_refusals(const struct refusal *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct refusal *row = &rows[i];
        struct read_json a;
        read_json_init(&a, row->dtype, row->rank, row->shape);
        read_json_data(&a, row->data);
        if (a.code != row->code || (a.code && !strstr(a.error.message, row->sentence)))
            fail_msg("%s: %s: %s", row->data, error_name(a.code), a.code ? a.error.message : "");
        assert_string_equal(a.error.input, "tensor");
        if (row->code == ERROR_VALUE_OUT_OF_RANGE || row->code == ERROR_INVALID_FIELD) {
            const struct fault *fault = &a.error.faults[0];
            assert_int_equal(a.error.fault_count, 1);
            assert_int_equal(fault->position_rank, row->position_rank);
            assert_memory_equal(fault->position, row->position,
                                (size_t)row->position_rank * sizeof(row->position[0]));
        }
        read_json_release(&a);
    }
}

#define EXPECT_REFUSALS(rows) expect_refusals(rows, sizeof(rows) / sizeof((rows)[0]))

static void values_out_of_range_have_a_position(void **state)
{
    static const struct refusal rows[] = {
        {DTYPE_UINT8,
         "[1,256]",
         ERROR_VALUE_OUT_OF_RANGE,
         "tensor[1] = 256 is out of range for UINT8 [0, 255]",
         SHAPE(2),
         1,
         {1}},
        {DTYPE_INT8,
         "[[1,2],[3,-129]]",
         ERROR_VALUE_OUT_OF_RANGE,
         "tensor[1, 1] = -129 is out of range for INT8 [-128, 127]",
         SHAPE(2, 2),
         2,
         {1, 1}},
        {DTYPE_INT8,
         "[1,2,3,4,5,128]",
         ERROR_VALUE_OUT_OF_RANGE,
         "tensor[1, 2] = 128",
         SHAPE(2, 3),
         2,
         {1, 2}},
        {DTYPE_INT8,
         "[[[1]],[[2]],[[300]]]",
         ERROR_VALUE_OUT_OF_RANGE,
         "tensor[2, 0, 0] = 300",
         NO_SHAPE,
         .shape = {0},
         3,
         {2, 0, 0}},
        {DTYPE_INT64,
         "9223372036854775808",
         ERROR_VALUE_OUT_OF_RANGE,
         "tensor = 9223372036854775808 is out",
         0,
         {0},
         0,
         {0}},
        {DTYPE_UINT64,
         "[-1]",
         ERROR_VALUE_OUT_OF_RANGE,
         "[0, 18446744073709551615]",
         SHAPE(1),
         1,
         {0}},
        {DTYPE_INT32,
         "[1,1.5]",
         ERROR_VALUE_OUT_OF_RANGE,
         "tensor[1] = 1.5 is not an integer",
         SHAPE(2),
         1,
         {1}},
        {DTYPE_INT32,
         "[1,NaN]",
         ERROR_VALUE_OUT_OF_RANGE,
         "tensor[1] = NaN is not an integer",
         SHAPE(2),
         1,
         {1}},
        {DTYPE_INT32,
         "[-Infinity]",
         ERROR_VALUE_OUT_OF_RANGE,
         "-Infinity is not an integer",
         SHAPE(1),
         1,
         {0}},
        {DTYPE_FP32, "[1,1e39]", ERROR_VALUE_OUT_OF_RANGE, "tensor[1] = 1e39", SHAPE(2), 1, {1}},
        {DTYPE_FP64, "[1e309]", ERROR_VALUE_OUT_OF_RANGE, "FP64", SHAPE(1), 1, {0}},
        {DTYPE_FP16, "[65520]", ERROR_VALUE_OUT_OF_RANGE, "[-65504, 65504]", SHAPE(1), 1, {0}},
        {DTYPE_BF16, "[3.4e38]", ERROR_VALUE_OUT_OF_RANGE, "BF16", SHAPE(1), 1, {0}},
        {DTYPE_BOOL, "[1,2]", ERROR_VALUE_OUT_OF_RANGE, "tensor[1] = 2", SHAPE(2), 1, {1}},
        {DTYPE_INT8, "[1,2,3,400]", ERROR_VALUE_OUT_OF_RANGE, "tensor[3] = 400", SHAPE(2), 1, {3}},
        {DTYPE_INT8, "[1,400]", ERROR_VALUE_OUT_OF_RANGE, "400", SHAPE(2, 0), 2, {1, 0}},
        {DTYPE_INT8,
         "[111111111111111111111111111111111111111111111111]",
         ERROR_VALUE_OUT_OF_RANGE,
         "= 1111111111111111111111111111111111111111... is",
         SHAPE(1),
         1,
         {0}},
    };
    (void)state;
    EXPECT_REFUSALS(rows);
}

static void elements_of_another_kind(void **state)
{
    static const struct refusal rows[] = {
        {DTYPE_FP32,
         "[1,null]",
         ERROR_INVALID_FIELD,
         "tensor[1] is null; expected a number; null may",
         SHAPE(2),
         1,
         {1}},
        {DTYPE_INT32,
         "[null]",
         ERROR_INVALID_FIELD,
         "tensor[0] is null; expected an integer",
         SHAPE(1),
         1,
         {0}},
        {DTYPE_BYTES,
         "['a',null]",
         ERROR_INVALID_FIELD,
         "null; expected a string",
         SHAPE(2),
         1,
         {1}},
        {DTYPE_FP32,
         "[1,true]",
         ERROR_INVALID_FIELD,
         "tensor[1] is true; expected a number",
         SHAPE(2),
         1,
         {1}},
        {DTYPE_FP32,
         "[1,'2']",
         ERROR_INVALID_FIELD,
         "tensor[1] is \"2\"; expected a number",
         SHAPE(2),
         1,
         {1}},
        {DTYPE_FP32, "['nan']", ERROR_INVALID_FIELD, "\"nan\"", SHAPE(1), 1, {0}},
        {DTYPE_INT64, "['1']", ERROR_INVALID_FIELD, "expected an integer", SHAPE(1), 1, {0}},
        {DTYPE_INT64, "['NaN']", ERROR_INVALID_FIELD, "expected an integer", SHAPE(1), 1, {0}},
        {DTYPE_INT32, "[false]", ERROR_INVALID_FIELD, "expected an integer", SHAPE(1), 1, {0}},
        {DTYPE_BOOL,
         "['true']",
         ERROR_INVALID_FIELD,
         "expected true, false, 0 or 1",
         SHAPE(1),
         1,
         {0}},
        {DTYPE_BOOL, "[NaN]", ERROR_INVALID_FIELD, "NaN; expected true", SHAPE(1), 1, {0}},
        {DTYPE_BYTES,
         "['a',5]",
         ERROR_INVALID_FIELD,
         "tensor[1] is 5; expected a string",
         SHAPE(2),
         1,
         {1}},
        {DTYPE_BYTES, "[NaN]", ERROR_INVALID_FIELD, "expected a string", SHAPE(1), 1, {0}},
        {DTYPE_FP32,
         "[[1],[{'a':[1]}]]",
         ERROR_INVALID_FIELD,
         "tensor[1, 0] is an object",
         SHAPE(2, 1),
         2,
         {1, 0}},
        {DTYPE_FP32,
         "{}",
         ERROR_INVALID_FIELD,
         "tensor is an object; expected a list of numbers",
         SHAPE(1),
         0,
         {0}},
        {DTYPE_FP32,
         "'abc'",
         ERROR_INVALID_FIELD,
         "tensor is \"abc\"; expected a list of numbers",
         SHAPE(3),
         0,
         {0}},
        {DTYPE_FP32,
         "'1,2,3'",
         ERROR_INVALID_FIELD,
         "is \"1,2,3\"; expected a list of numbers",
         NO_SHAPE,
         .shape = {0},
         0,
         {0}},
        {DTYPE_INT8,
         "'1,2,3'",
         ERROR_INVALID_FIELD,
         "is \"1,2,3\"; expected an integer",
         SCALAR,
         .shape = {0},
         0,
         {0}},
        {DTYPE_INT64,
         "[[1],'x']",
         ERROR_INVALID_FIELD,
         "tensor[1] is \"x\"; expected a list of integers",
         NO_SHAPE,
         .shape = {0},
         1,
         {1}},
        {DTYPE_BOOL,
         "'true'",
         ERROR_INVALID_FIELD,
         "expected a list of true, false, 0 or 1",
         NO_SHAPE,
         .shape = {0},
         0,
         {0}},
        {DTYPE_FP32,
         "['an extremely long string that nobody would want to see whole']",
         ERROR_INVALID_FIELD,
         "\"an extremely long string that nobody wo...; expected",
         SHAPE(1),
         1,
         {0}},
    };
    (void)state;
    EXPECT_REFUSALS(rows);
}

/* Bytes are counted from the start of the request. */
static void expect_byte(enum dtype dtype, int rank, const char *data, int byte)
{
    static const int64_t shape[] = {2};
    struct read_json a;
    char place[32];
    read_json_init(&a, dtype, rank, shape);
    read_json_data(&a, data);
    snprintf(place, sizeof(place), "byte %d of", READ_JSON_AT + byte);
    if (a.code != ERROR_INVALID_JSON || !strstr(a.error.message, place))
        fail_msg("%s: %s: %s, not %s", data, error_name(a.code), a.code ? a.error.message : "",
                 place);
    read_json_release(&a);
}

static void malformed_elements_have_a_byte(void **state)
{
    static const struct {
        enum dtype dtype;
        const char *data;
        int byte; /* of the data */
    } rows[] = {
        {DTYPE_FP32, "[1,02]", 3},     {DTYPE_FP32, "[1,+2]", 3},
        {DTYPE_FP32, "[1,.5]", 3},     {DTYPE_FP32, "[1,5.]", 3},
        {DTYPE_FP32, "[1,-.5]", 3},    {DTYPE_FP32, "[1,1e]", 3},
        {DTYPE_FP32, "[1,0x1]", 4},    {DTYPE_FP32, "[1,2,]", 5},
        {DTYPE_FP32, "[,1]", 1},       {DTYPE_FP32, "[1,,2]", 3},
        {DTYPE_FP32, "[1 2]", 3},      {DTYPE_FP32, "[1,nan]", 3},
        {DTYPE_FP32, "[1,Inf]", 3},    {DTYPE_FP32, "[1,-NaN]", 3},
        {DTYPE_FP32, "[1,NaNs]", 6},   {DTYPE_FP32, "[1,2x]", 4},
        {DTYPE_INT32, "[1,01]", 3},    {DTYPE_INT32, "[1,--1]", 3},
        {DTYPE_BOOL, "[true,tru]", 6}, {DTYPE_BOOL, "[truefalse]", 5},
        {DTYPE_BYTES, "['a' 'b']", 5}, {DTYPE_BYTES, "['a',]", 5},
        {DTYPE_BYTES, "[a]", 1},       {DTYPE_FP32, "[[1],]", 5},
        {DTYPE_FP32, "[[1][2]]", 4},   {DTYPE_FP32, "[[1],x]", 5},
        {DTYPE_FP32, "[[1]2]", 4},     {DTYPE_FP32, "[1:2]", 2},
        {DTYPE_FP32, "1-2", 1},        {DTYPE_FP32, "x", 0},
        {DTYPE_FP32, "[[1,],[2]]", 4}, {DTYPE_FP32, "[\x01]", 1},
        {DTYPE_FP32, "[1,\v2]", 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        expect_byte(rows[i].dtype, -1, rows[i].data, rows[i].byte);
        if (rows[i].data[0] == '[' && rows[i].data[1] != '[')
            expect_byte(rows[i].dtype, 1, rows[i].data, rows[i].byte);
    }
}

static void ragged_nesting(void **state)
{
    static const struct refusal rows[] = {
        {DTYPE_FP32, "[[1,2],[3]]", ERROR_SHAPE_MISMATCH,
         "tensor is ragged: tensor[1] has 1 member; expected 2 (the list ends at byte 28 of the "
         "JSON "
         "text)",
         NO_SHAPE},
        {DTYPE_FP32, "[[1],[2,3]]", ERROR_SHAPE_MISMATCH, "tensor[1] has 2 members; expected 1",
         NO_SHAPE},
        {DTYPE_FP32, "[1,[2]]", ERROR_SHAPE_MISMATCH,
         "tensor is ragged: tensor[1] is a list (byte 22 of the JSON text); expected a number",
         NO_SHAPE},
        {DTYPE_FP32, "[[1],2]", ERROR_SHAPE_MISMATCH,
         "tensor is ragged: tensor[1] is 2 (byte 24 of the JSON text); expected a list", NO_SHAPE},
        {DTYPE_FP32, "[[],[1]]", ERROR_SHAPE_MISMATCH, "tensor[1] has 1 member; expected 0",
         NO_SHAPE},
        {DTYPE_FP32, "[[],[[]]]", ERROR_SHAPE_MISMATCH, "tensor[1, 0] is a list", NO_SHAPE},
        {DTYPE_FP32, "[[[]],[]]", ERROR_SHAPE_MISMATCH, "tensor[1] has 0 members; expected 1",
         NO_SHAPE},
        {DTYPE_BYTES, "['a',['b']]", ERROR_SHAPE_MISMATCH,
         "tensor[1] is a list (byte 24 of the JSON text); expected a string", NO_SHAPE},
        {DTYPE_FP32, "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", ERROR_SHAPE_MISMATCH,
         "more than 16 deep", NO_SHAPE},
        {DTYPE_FP32, "[[1,2],[3,4]]", ERROR_SHAPE_MISMATCH,
         "tensor is not nested as its shape [4]: tensor[0] is a list (byte 20 of the JSON text); "
         "expected a number",
         SHAPE(4)},
        {DTYPE_FP32, "[[1,2],[3,4]]", ERROR_SHAPE_MISMATCH,
         "shape [2, 2, 1]: tensor[0, 0] is 1 (byte 21 of the JSON text); expected a list",
         SHAPE(2, 2, 1)},
        {DTYPE_FP32, "[[1,2,3],[4,5,6]]", ERROR_SHAPE_MISMATCH,
         "[3, 2]: tensor[0] has 3 members; expected 2", SHAPE(3, 2)},
        {DTYPE_FP32, "[[1,2],[3,4]]", ERROR_SHAPE_MISMATCH,
         "[3, 2]: tensor has 2 members; expected 3", SHAPE(3, 2)},
        {DTYPE_FP32, "[[1]]", ERROR_SHAPE_MISMATCH,
         "shape []: tensor is a list (byte 19 of the JSON text); expected a number", SCALAR},
        {DTYPE_FP32, "1", ERROR_SHAPE_MISMATCH,
         "shape [1]: tensor is 1 (byte 19 of the JSON text); expected a list", SHAPE(1)},
        {DTYPE_FP32, "[[]]", ERROR_SHAPE_MISMATCH, "shape [0]: tensor[0] is a list", SHAPE(0)},
    };
    (void)state;
    EXPECT_REFUSALS(rows);
}

/* A problem document names the place of a list that is at fault. */
static void wrong_nesting_has_a_position(void **state)
{
    static const struct {
        const char *data;
        int rank; /* of the position */
        int64_t position[RANK_MAX];
    } rows[] = {
        {"[[1,2],[3]]", 1, {1}},     {"[[[1],[2]],[[3],[4,5]]]", 2, {1, 1}},
        {"[[1],2]", 1, {1}},         {"[1,2,[3]]", 1, {2}},
        {"[[1,2],[3,4],5]", 1, {2}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct read_json a;
        read_json_init(&a, DTYPE_FP32, -1, NULL);
        read_json_data(&a, rows[i].data);
        assert_int_equal(a.code, ERROR_SHAPE_MISMATCH);
        assert_int_equal(a.error.fault_count, 1);
        assert_int_equal(a.error.faults[0].position_rank, rows[i].rank);
        assert_memory_equal(a.error.faults[0].position, rows[i].position,
                            (size_t)rows[i].rank * sizeof(int64_t));
        read_json_release(&a);
    }
}

/* Where FP32 is our default, integers that it does not have are refused. */
static void an_untyped_integer_is_exact(void **state)
{
    static const struct {
        const char *data, *sentence; /* NULL: it is taken */
    } rows[] = {
        {"[16777216,-16777216,0,-0]", NULL},
        {"[16777218,33554432,4294967296,18446744073709551616]", NULL},
        {"[340282346638528859811704183484516925440]", NULL},
        {"[0.1,16777217.0,16777217.5,1.6777217e7,1e30,123456789e0]", NULL},
        {"[1,16777217]", "tensor[1] = 16777217 is not exact in FP32; it is FP32 because it has no "
                         "datatype: name one, as in {\"datatype\": \"FP64\", \"data\": ...}"},
        {"[[123456789]]", "tensor[0, 0] = 123456789 is not exact"},
        {"-16777217", "tensor = -16777217 is not exact"},
        {"[18446744073709551615]", "= 18446744073709551615 is not exact"},
        {"[18446744073709551617]", "= 18446744073709551617 is not exact"},
        {"[340282346638528859811704183484516925439]", "is not exact"},
        {"[1e39]",
         "1e39 is out of range for FP32 [-3.4028235e38, 3.4028235e38]; it is FP32 because"},
        {"[true]", "tensor[0] is true; expected a number; it is FP32 because it has no datatype"},
        {"['a']", "tensor[0] is \"a\"; expected a number; it is FP32 because it has no datatype"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int untyped = 0; untyped < 2; untyped++) {
            struct read_json a;
            read_json_init(&a, DTYPE_FP32, -1, NULL);
            a.untyped = untyped;
            read_json_data(&a, rows[i].data);
            bool inexact = rows[i].sentence && strstr(rows[i].sentence, "not exact");
            bool refused = rows[i].sentence && (untyped || !inexact);
            if ((a.code != ERROR_NONE) != refused)
                fail_msg("%s: %s", rows[i].data, error_name(a.code));
            if (refused && untyped && !strstr(a.error.message, rows[i].sentence))
                fail_msg("%s: %s", rows[i].data, a.error.message);
            if (refused && !untyped)
                assert_null(strstr(a.error.message, "datatype"));
            read_json_release(&a);
        }
    }
}

static void wrong_counts(void **state)
{
    static const struct refusal rows[] = {
        {DTYPE_FP32, "[1,2,3]", ERROR_SIZE_MISMATCH,
         "tensor has 3 elements; its shape [2, 2] needs 4", SHAPE(2, 2)},
        {DTYPE_FP32, "[1,2,3,4,5]", ERROR_SIZE_MISMATCH, "has 5 elements", SHAPE(2, 2)},
        {DTYPE_FP32, "[]", ERROR_SIZE_MISMATCH, "has 0 elements", SHAPE(1)},
        {DTYPE_FP32, "[]", ERROR_SIZE_MISMATCH, "shape [] needs 1", SCALAR},
        {DTYPE_FP32, "[1]", ERROR_SIZE_MISMATCH, "shape [0] needs 0", SHAPE(0)},
        {DTYPE_BYTES, "['a,b']", ERROR_SIZE_MISMATCH, "has 1 element;", SHAPE(2)},
        {DTYPE_FP32, "[1]", ERROR_SIZE_MISMATCH, "needs 9007199254740992", SHAPE(9007199254740992)},
        {DTYPE_FP32, "[1]", ERROR_SIZE_MISMATCH, "more elements than fit 64 bits",
         SHAPE(4294967296, 4294967296)},
    };
    (void)state;
    EXPECT_REFUSALS(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_out_of_range_have_a_position),
        cmocka_unit_test(elements_of_another_kind),
        cmocka_unit_test(malformed_elements_have_a_byte),
        cmocka_unit_test(ragged_nesting),
        cmocka_unit_test(wrong_nesting_has_a_position),
        cmocka_unit_test(an_untyped_integer_is_exact),
        cmocka_unit_test(wrong_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
