#include "kernels/dtype.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Written out again, so that a slip in the table is seen. */
static const struct {
    enum dtype dtype;
    size_t bytes;
    const char *v2, *safetensors;
} types[] = {
    {DTYPE_BOOL, 1, "BOOL", "BOOL"},    {DTYPE_INT8, 1, "INT8", "I8"},
    {DTYPE_INT16, 2, "INT16", "I16"},   {DTYPE_INT32, 4, "INT32", "I32"},
    {DTYPE_INT64, 8, "INT64", "I64"},   {DTYPE_UINT8, 1, "UINT8", "U8"},
    {DTYPE_UINT16, 2, "UINT16", "U16"}, {DTYPE_UINT32, 4, "UINT32", "U32"},
    {DTYPE_UINT64, 8, "UINT64", "U64"}, {DTYPE_FP16, 2, "FP16", "F16"},
    {DTYPE_BF16, 2, "BF16", "BF16"},    {DTYPE_FP32, 4, "FP32", "F32"},
    {DTYPE_FP64, 8, "FP64", "F64"},     {DTYPE_C64, 8, NULL, "C64"},
    {DTYPE_C128, 16, NULL, NULL},       {DTYPE_BYTES, 16, "BYTES", NULL},
};

enum { TYPES = sizeof types / sizeof types[0] };

static void every_type_is_in_the_table(void **state)
{
    (void)state;
    assert_int_equal(TYPES, DTYPE_COUNT - 1);
    for (int i = 0; i < TYPES; i++)
        assert_int_equal(dtype_bytes(types[i].dtype), types[i].bytes);
    assert_int_equal(dtype_bytes(DTYPE_NONE), 0);
}

static void names_and_back(void **state)
{
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        enum dtype d = types[i].dtype;
        if (types[i].v2) {
            assert_string_equal(dtype_name(d), types[i].v2);
            assert_int_equal(dtype_from_v2(types[i].v2, strlen(types[i].v2)), d);
        }
        if (types[i].safetensors) {
            const char *name = types[i].safetensors;
            assert_string_equal(dtype_safetensors_name(d), name);
            assert_int_equal(dtype_from_safetensors(name, strlen(name)), d);
        } else
            assert_null(dtype_safetensors_name(d));
    }
}

static void complex_has_a_name_but_no_v2_type(void **state)
{
    (void)state;
    assert_string_equal(dtype_name(DTYPE_C64), "C64");
    assert_string_equal(dtype_name(DTYPE_C128), "C128");
    assert_string_equal(dtype_name(DTYPE_NONE), "NONE");
    assert_int_equal(dtype_from_v2("C64", 3), DTYPE_NONE);
    assert_int_equal(dtype_from_v2("C128", 4), DTYPE_NONE);
}

static void other_names_are_nothing(void **state)
{
    (void)state;
    assert_int_equal(dtype_from_v2("FP3", 3), DTYPE_NONE);
    assert_int_equal(dtype_from_v2("FP320", 5), DTYPE_NONE);
    assert_int_equal(dtype_from_v2("fp32", 4), DTYPE_NONE);
    assert_int_equal(dtype_from_v2("", 0), DTYPE_NONE);
    assert_int_equal(dtype_from_v2("NONE", 4), DTYPE_NONE);
    assert_int_equal(dtype_from_safetensors("F8_E4M3", 7), DTYPE_NONE);
    assert_int_equal(dtype_from_safetensors("FP32", 4), DTYPE_NONE);
}

static void size_of_a_name_is_respected(void **state)
{
    (void)state;
    assert_int_equal(dtype_from_v2("FP32xyz", 4), DTYPE_FP32);
    assert_int_equal(dtype_from_safetensors("F32xyz", 3), DTYPE_FP32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_in_the_table),
        cmocka_unit_test(names_and_back),
        cmocka_unit_test(complex_has_a_name_but_no_v2_type),
        cmocka_unit_test(other_names_are_nothing),
        cmocka_unit_test(size_of_a_name_is_respected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
