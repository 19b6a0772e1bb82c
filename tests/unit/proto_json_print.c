/* json_tensor_print: one flat array that reads back to the same elements, within the announced
 * size. */
#include "proto/json/tensor.h"
#include "tests/support/proto/read_json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct work serial = {.threads = 1};

/* Prints into a block of exactly the announced size; the caller frees the text. */
static char *print(const struct tensor *t, enum nonfinite nonfinite, enum error_code *code,
                   struct error *error)
{
    size_t most = json_tensor_text_max(t), size = 0;
    char *text = malloc(most);
    assert_non_null(text);
    *code = json_tensor_print(t, nonfinite, text, &size, &serial, error);
    assert_true(size <= most);
    char *copy = strndup(text, size);
    free(text);
    return copy;
}

static void expect_text(enum dtype dtype, int64_t count, const void *elements, const char *text)
{
    struct tensor t = {.dtype = dtype, .rank = 1, .shape = {count}, .data = (void *)elements};
    enum error_code code;
    struct error error;
    char *printed = print(&t, NONFINITE_ERROR, &code, &error);
    assert_int_equal(code, ERROR_NONE);
    assert_string_equal(printed, text);
    free(printed);
}

/* -------------------------------------------------------------------------------------- numbers */

static void every_type_prints(void **state)
{
    (void)state;
    expect_text(DTYPE_BOOL, 4, (uint8_t[]){1, 0, 255, 2}, "[true,false,true,true]");
    expect_text(DTYPE_INT8, 3, (int8_t[]){-128, 0, 127}, "[-128,0,127]");
    expect_text(DTYPE_INT16, 2, (int16_t[]){-32768, 32767}, "[-32768,32767]");
    expect_text(DTYPE_INT32, 2, (int32_t[]){INT32_MIN, INT32_MAX}, "[-2147483648,2147483647]");
    expect_text(DTYPE_INT64, 3, (int64_t[]){INT64_MIN, 1491926160718000000, 1234567890123460},
                "[-9223372036854775808,1491926160718000000,1234567890123460]");
    expect_text(DTYPE_UINT8, 2, (uint8_t[]){0, 255}, "[0,255]");
    expect_text(DTYPE_UINT16, 1, (uint16_t[]){65535}, "[65535]");
    expect_text(DTYPE_UINT32, 1, (uint32_t[]){UINT32_MAX}, "[4294967295]");
    expect_text(DTYPE_UINT64, 1, (uint64_t[]){UINT64_MAX}, "[18446744073709551615]");
    expect_text(DTYPE_FP16, 3, (uint16_t[]){0x3E00, 0x8000, 0x0001}, "[1.5,-0.0,6e-08]");
    expect_text(DTYPE_BF16, 3, (uint16_t[]){0x3FC0, 0x0000, 0x7F7F}, "[1.5,0.0,3.39e+38]");
    expect_text(DTYPE_FP32, 4, (float[]){1, 100.2f, 6e-7f, 555557.5f},
                "[1.0,100.2,6e-07,555557.5]");
    expect_text(DTYPE_FP64, 3, (double[]){0.1, -1e300, 9007199254740992},
                "[0.1,-1e+300,9007199254740992.0]");
}

static void no_elements_and_one(void **state)
{
    struct tensor t = {.dtype = DTYPE_FP32, .rank = 0, .data = (float[]){2}};
    enum error_code code;
    struct error error;
    (void)state;
    expect_text(DTYPE_FP32, 0, NULL, "[]");
    expect_text(DTYPE_BYTES, 0, NULL, "[]");
    char *text = print(&t, NONFINITE_ERROR, &code, &error);
    assert_string_equal(text, "[2.0]");
    free(text);
}

static void the_longest_elements_fit(void **state)
{
    float f32[100];
    double f64[100];
    uint16_t f16[100], bf16[100];
    (void)state;
    for (int i = 0; i < 100; i++) {
        f32[i] = -1.00000075e-36f;
        f64[i] = -2.2250738585072014e-308;
        f16[i] = 0x868F; /* -0.00010014 */
        bf16[i] = 0xFF80;
    }
    struct tensor rows[] = {{DTYPE_FP32, 1, {100}, f32},
                            {DTYPE_FP64, 1, {100}, f64},
                            {DTYPE_FP16, 1, {100}, f16},
                            {DTYPE_BF16, 1, {100}, bf16}};
    for (int i = 0; i < 4; i++) {
        enum error_code code;
        struct error error;
        free(print(&rows[i], NONFINITE_STRING, &code, &error));
        assert_int_equal(code, ERROR_NONE);
    }
}

/* ----------------------------------------------------------------------------------- not finite */

static const float mixed[] = {1, NAN, INFINITY, -INFINITY, -2.5f};

static void what_is_not_finite_is_said_as_asked(void **state)
{
    static const struct {
        enum nonfinite nonfinite;
        const char *text;
    } rows[] = {
        {NONFINITE_TOKEN, "[1.0,NaN,Infinity,-Infinity,-2.5]"},
        {NONFINITE_STRING, "[1.0,\"NaN\",\"Infinity\",\"-Infinity\",-2.5]"},
        {NONFINITE_NULL, "[1.0,null,null,null,-2.5]"},
    };
    struct tensor t = {.dtype = DTYPE_FP32, .rank = 1, .shape = {5}, .data = (void *)mixed};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum error_code code;
        struct error error;
        char *text = print(&t, rows[i].nonfinite, &code, &error);
        assert_int_equal(code, ERROR_NONE);
        assert_string_equal(text, rows[i].text);
        free(text);
    }
}

static void every_float_type_has_its_nonfinite(void **state)
{
    static const uint16_t f16[] = {0x7C00, 0xFC00, 0x7C01, 0xFFFF};
    static const uint16_t bf16[] = {0x7F80, 0xFF80, 0x7F81, 0xFFFF};
    static const double f64[] = {INFINITY, -INFINITY, NAN, -NAN};
    struct tensor rows[] = {{DTYPE_FP16, 1, {4}, (void *)f16},
                            {DTYPE_BF16, 1, {4}, (void *)bf16},
                            {DTYPE_FP64, 1, {4}, (void *)f64}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        enum error_code code;
        struct error error;
        char *text = print(&rows[i], NONFINITE_TOKEN, &code, &error);
        assert_string_equal(text, "[Infinity,-Infinity,NaN,NaN]");
        free(text);
    }
}

static void what_is_not_finite_is_refused_by_default(void **state)
{
    struct tensor t = {.dtype = DTYPE_FP32, .rank = 2, .shape = {1, 5}, .data = (void *)mixed};
    enum error_code code;
    struct error error;
    (void)state;
    free(print(&t, NONFINITE_ERROR, &code, &error));
    assert_int_equal(code, ERROR_NONFINITE_IN_JSON);
    assert_non_null(strstr(error.message, "output[0, 1] is NaN"));
    assert_non_null(strstr(error.message, "json_nonfinite"));
    assert_non_null(strstr(error.message, "binary"));
    assert_int_equal(error.faults[0].position_rank, 2);
    assert_int_equal(error.faults[0].position[1], 1);
}

/* -------------------------------------------------------------------------------------- strings */

static void strings_are_escaped(void **state)
{
    static const struct span spans[] = {{"", 0},
                                        {NULL, 0},
                                        {"ab/", 3},
                                        {"q\"\\", 3},
                                        {"\b\f\n\r\t", 5},
                                        {"\0\x1F\x7F", 3},
                                        {"\xC3\xA9\xF0\x9F\x98\x80", 6},
                                        {"sixteen bytes here, \xE2\x82\xAC and then a \n", 36}};
    static const char text[] =
        "[\"\",\"\",\"ab/\",\"q\\\"\\\\\",\"\\b\\f\\n\\r\\t\",\"\\u0000\\u001f\x7F\","
        "\"\xC3\xA9\xF0\x9F\x98\x80\",\"sixteen bytes here, \xE2\x82\xAC and then a \\n\"]";
    struct tensor t = {.dtype = DTYPE_BYTES, .rank = 1, .shape = {8}, .data = (void *)spans};
    (void)state;
    expect_text(DTYPE_BYTES, 8, spans, text);
    /* There is room for a comma after the last string. */
    assert_int_equal(json_tensor_text_max(&t), sizeof(text));
}

static void strings_that_are_not_utf8_are_refused(void **state)
{
    static const struct span spans[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d\xC3\xA9\xFF", 4}};
    struct tensor t = {.dtype = DTYPE_BYTES, .rank = 2, .shape = {2, 2}, .data = (void *)spans};
    enum error_code code;
    struct error error;
    (void)state;
    free(print(&t, NONFINITE_ERROR, &code, &error));
    assert_int_equal(code, ERROR_NOT_UTF8);
    assert_non_null(strstr(error.message, "output[1, 1]"));
    assert_non_null(strstr(error.message, "byte 3 is 0xff"));
    assert_int_equal(error.faults[0].position_rank, 2);
    assert_int_equal(error.faults[0].position[0], 1);
    assert_int_equal(error.faults[0].position[1], 1);
}

/* ---------------------------------------------------------------------------------------- sizes */

static void the_size_saturates(void **state)
{
    struct tensor t = {.dtype = DTYPE_FP32, .rank = 2, .shape = {INT64_MAX, 2}};
    (void)state;
    assert_true(json_tensor_text_max(&t) == SIZE_MAX);
    t = (struct tensor){.dtype = DTYPE_FP64, .rank = 1, .shape = {INT64_MAX / 4}};
    assert_true(json_tensor_text_max(&t) == SIZE_MAX);
    t = (struct tensor){.dtype = DTYPE_FP32, .rank = 1, .shape = {1000000}};
    assert_int_equal(json_tensor_text_max(&t), 15000002);
    t.shape[0] = 0;
    assert_int_equal(json_tensor_text_max(&t), 2);
}

/* What is printed is read back by the same module, in every type. */
static void printed_tensors_read_back(void **state)
{
    enum { COUNT = 512 };
    static const enum dtype types[] = {DTYPE_INT8,  DTYPE_INT16,  DTYPE_INT32,  DTYPE_INT64,
                                       DTYPE_UINT8, DTYPE_UINT16, DTYPE_UINT32, DTYPE_UINT64,
                                       DTYPE_FP16,  DTYPE_BF16,   DTYPE_FP32,   DTYPE_FP64};
    _Alignas(8) unsigned char elements[COUNT * 8];
    uint64_t random = 20261130;
    (void)state;
    for (size_t i = 0; i < sizeof(elements); i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        elements[i] = (unsigned char)(random >> 56);
        if (i % 2)
            elements[i] &= 0xBF; /* no exponent is at its highest: all floats are finite */
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct tensor t = {.dtype = types[i], .rank = 1, .shape = {COUNT}, .data = elements};
        enum error_code code;
        struct error error;
        struct read_json r;
        char *text = print(&t, NONFINITE_ERROR, &code, &error);
        assert_int_equal(code, ERROR_NONE);
        read_json_init(&r, types[i], -1, NULL);
        read_json_data(&r, text);
        assert_int_equal(r.code, ERROR_NONE);
        assert_memory_equal(r.tensor.data, elements, COUNT * dtype_bytes(types[i]));
        read_json_release(&r);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_prints),
        cmocka_unit_test(no_elements_and_one),
        cmocka_unit_test(the_longest_elements_fit),
        cmocka_unit_test(what_is_not_finite_is_said_as_asked),
        cmocka_unit_test(every_float_type_has_its_nonfinite),
        cmocka_unit_test(what_is_not_finite_is_refused_by_default),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(strings_that_are_not_utf8_are_refused),
        cmocka_unit_test(the_size_saturates),
        cmocka_unit_test(printed_tensors_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
