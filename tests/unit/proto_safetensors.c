/* safetensors: files as requests and as answers, and every rule of the format. */
#include "proto/answer/safetensors_write.h"
#include "proto/request/safetensors_read.h"

#include "tests/support/proto/infer.h"
#include "tests/support/proto/quote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct infer f;
static char file[2 << 20];

static int setup(void **state)
{
    (void)state;
    infer_init(&f);
    f.head.body = ENCODING_SAFETENSORS;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    infer_release(&f);
    return 0;
}

/* A file of this header, in which ' stands for ", and this data. */
static size_t make(const char *header, const void *data, size_t size)
{
    char *text = quote(header);
    uint64_t length = strlen(text);
    assert_true(8 + length + size <= sizeof(file));
    memcpy(file, &length, 8);
    memcpy(file + 8, text, length);
    if (size > 0)
        memcpy(file + 8 + length, data, size);
    free(text);
    return 8 + length + size;
}

static enum error_code read_file(const char *header, const void *data, size_t size)
{
    return infer_decode(&f, "tensor_scatter_add", file, make(header, data, size));
}

static void expect_bad(const char *header, size_t size, enum error_code code, const char *part)
{
    static const char data[256] = {0};
    enum error_code got = read_file(header, data, size);
    if (got != code || !strstr(f.error.message, part))
        fail_msg("%s: %s: %s", header, error_name(got), got ? f.error.message : "");
}

static const unsigned char example_data[] = {
    0, 0, 0x80, 0x3f, 0, 0, 0,    0x40, 0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40, /* tensor 1 2 3 4 */
    0, 0, 0x20, 0x41, 0, 0, 0xa0, 0x41,                                     /* updates 10 20 */
    1, 0, 0,    0,    3, 0, 0,    0,                                        /* indices 1 3 */
};

#define TENSOR  "'tensor':{'dtype':'F32','shape':[4],'data_offsets':[0,16]}"
#define UPDATES "'updates':{'dtype':'F32','shape':[2],'data_offsets':[16,24]}"
#define INDICES "'indices':{'dtype':'I32','shape':[2,1],'data_offsets':[24,32]}"
#define EXAMPLE "{'__metadata__':{'op':'x'}," TENSOR "," UPDATES "," INDICES "}  "

static void the_documented_example(void **state)
{
    static const float expected[] = {1, 12, 3, 24};
    (void)state;
    assert_int_equal(infer_answer(&f, "tensor_scatter_add", file,
                                  make(EXAMPLE, example_data, sizeof(example_data))),
                     ERROR_NONE);
    const char *header = "{\"output\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}";
    uint64_t length;
    memcpy(&length, f.response.data, 8);
    assert_int_equal((8 + length) % 64, 0);
    assert_int_equal(f.response.size, 8 + length + 16);
    assert_memory_equal(f.response.data + 8, header, strlen(header));
    for (size_t i = 8 + strlen(header); i < 8 + length; i++)
        assert_int_equal(f.response.data[i], ' ');
    assert_memory_equal(f.response.data + 8 + length, expected, 16);
    assert_int_equal(f.response.header_length, -1);
    assert_string_equal(f.response.content_type, "application/vnd.safetensors");
}

static void tensors_are_views_in_any_order(void **state)
{
    (void)state;
    assert_int_equal(
        read_file("{" INDICES "," UPDATES "," TENSOR "}", example_data, sizeof(example_data)),
        ERROR_NONE);
    assert_memory_equal(f.request.inputs[0].data, example_data, 16);
    assert_memory_equal(f.request.inputs[1].data, example_data + 24, 8);
    assert_memory_equal(f.request.inputs[2].data, example_data + 16, 8);
    assert_int_equal(f.request.inputs[1].rank, 2);
    assert_int_equal(f.request.answer, ENCODING_SAFETENSORS);
}

static void every_type_by_its_name(void **state)
{
    static const struct {
        const char *name;
        enum dtype dtype;
        int bytes;
    } rows[] = {
        {"BOOL", DTYPE_BOOL, 1},  {"U8", DTYPE_UINT8, 1},   {"I8", DTYPE_INT8, 1},
        {"U16", DTYPE_UINT16, 2}, {"I16", DTYPE_INT16, 2},  {"F16", DTYPE_FP16, 2},
        {"BF16", DTYPE_BF16, 2},  {"U32", DTYPE_UINT32, 4}, {"I32", DTYPE_INT32, 4},
        {"F32", DTYPE_FP32, 4},   {"U64", DTYPE_UINT64, 8}, {"I64", DTYPE_INT64, 8},
        {"F64", DTYPE_FP64, 8},   {"C64", DTYPE_C64, 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char header[256];
        snprintf(header, sizeof(header),
                 "{'tensor':{'dtype':'%s','shape':[1],"
                 "'data_offsets':[0,%d]}}",
                 rows[i].name, rows[i].bytes);
        size_t size = make(header, example_data, (size_t)rows[i].bytes);
        assert_int_equal(infer_decode(&f, "tensor_scatter_update", file, size), ERROR_NONE);
        assert_int_equal(f.request.inputs[0].dtype, rows[i].dtype);
    }
    expect_bad("{'tensor':{'dtype':'F8_E4M3','shape':[1],'data_offsets':[0,1]}}", 1,
               ERROR_UNSUPPORTED_DTYPE, "F32, F64, C64");
    expect_bad("{'tensor':{'dtype':'FP32','shape':[1],'data_offsets':[0,4]}}", 4,
               ERROR_UNSUPPORTED_DTYPE, "FP32");
    expect_bad("{'tensor':{'dtype':5,'shape':[1],'data_offsets':[0,4]}}", 4, ERROR_INVALID_FIELD,
               "dtype of tensor is 5");
}

static void scalars_and_empty_tensors(void **state)
{
    (void)state;
    assert_int_equal(read_file("{'tensor':{'dtype':'F32','shape':[],'data_offsets':[0,4]},"
                               "'updates':{'dtype':'F32','shape':[0,5],'data_offsets':[4,4]},"
                               "'indices':{'dtype':'I64','shape':[0,1],'data_offsets':[0,0]}}",
                               example_data, 4),
                     ERROR_NONE);
    assert_int_equal(f.request.inputs[0].rank, 0);
    assert_int_equal(f.request.inputs[2].rank, 2);
    assert_int_equal(read_file("{}", NULL, 0), ERROR_NONE);
}

static void complex_tensors_both_ways(void **state)
{
    static const float data[] = {1, 2, 3, 4, 10, 20};
    static const int32_t index = 1;
    static const float expected[] = {1, 2, 13, 24};
    char all[sizeof(data) + sizeof(index)];
    uint64_t length;
    (void)state;
    memcpy(all, data, sizeof(data));
    memcpy(all + sizeof(data), &index, sizeof(index));
    size_t size = make("{'tensor':{'dtype':'C64','shape':[2],'data_offsets':[0,16]},"
                       "'updates':{'dtype':'C64','shape':[1],'data_offsets':[16,24]},"
                       "'indices':{'dtype':'I32','shape':[1,1],'data_offsets':[24,28]}}",
                       all, sizeof(all));
    assert_int_equal(infer_answer(&f, "tensor_scatter_add", file, size), ERROR_NONE);
    memcpy(&length, f.response.data, 8);
    assert_non_null(strstr(f.response.data + 8, "\"dtype\":\"C64\",\"shape\":[2]"));
    assert_memory_equal(f.response.data + 8 + length, expected, sizeof(expected));
    f.head.accepted = ENCODING_JSON;
    assert_int_equal(infer_answer(&f, "tensor_scatter_add", file, size), ERROR_UNSUPPORTED_DTYPE);
}

/* Metadata is as long as the format and max_json allow, in one string or in many. */
static void metadata_may_be_long(void **state)
{
    enum { LONG = 900 << 10 };
    char *header = malloc(LONG + 4096), *end;
    (void)state;
    sprintf(header, "{'__metadata__':{'note':'%*s'}," TENSOR "," UPDATES "," INDICES "}", LONG, "");
    if (read_file(header, example_data, sizeof(example_data)) != ERROR_NONE)
        fail_msg("%s", f.error.message);
    end = header + sprintf(header, "{'__metadata__':{'a':''");
    for (int i = 0; end - header < LONG; i++)
        end += sprintf(end, ",'%d':'x'", i);
    sprintf(end, "}," TENSOR "," UPDATES "," INDICES "}");
    if (read_file(header, example_data, sizeof(example_data)) != ERROR_NONE)
        fail_msg("%s", f.error.message);
    free(header);
}

static void a_mistyped_parameter_of_metadata_is_told(void **state)
{
    (void)state;
    expect_bad("{'__metadata__':{'bad_indice_policy':'IGNORE'}}", 0, ERROR_INVALID_PARAMETER,
               "there is no parameter \"bad_indice_policy\"; did you mean \"bad_indices_policy\"?");
    expect_bad("{'__metadata__':{'timeout':'0.99999999999999999999999'}}", 0,
               ERROR_INVALID_PARAMETER, "timeout is 0.99999999999999999999999; expected");
}

static void metadata_holds_parameters_and_the_id(void **state)
{
    (void)state;
    f.rules.cuda_devices = 1;
    assert_int_equal(
        read_file("{'__metadata__':{'format':'pt','bad_indices_policy':'IGNORE','timeout':'250',"
                  "'device':'cuda:0','json_nonfinite':'null','id':'r-1'}," TENSOR "}",
                  example_data, 16),
        ERROR_NONE);
    assert_true(f.request.ignore_bad);
    assert_int_equal(f.request.timeout_us, 250);
    assert_int_equal(f.request.device_index, 0);
    assert_int_equal(f.request.nonfinite, NONFINITE_NULL);
    assert_string_equal(f.request.id, "r-1");
    assert_int_equal(
        read_file("{'__metadata__':{'binary_data_output':'true'}," TENSOR "}", example_data, 16),
        ERROR_NONE);
    assert_int_equal(f.request.answer, ENCODING_BINARY);
    expect_bad("{'__metadata__':{'timeout':'soon'}}", 0, ERROR_INVALID_PARAMETER, "soon");
    expect_bad("{'__metadata__':{'bad_indices_policy':'5'}}", 0, ERROR_INVALID_PARAMETER, "5");
}

static void the_answer_says_id_and_ignored_rows(void **state)
{
    static const int32_t bad[] = {9, 3};
    unsigned char data[sizeof(example_data)];
    (void)state;
    memcpy(data, example_data, sizeof(data));
    memcpy(data + 24, bad, sizeof(bad));
    size_t size = make("{'__metadata__':{'bad_indices_policy':'IGNORE','id':'a\\'b'}," TENSOR
                       "," UPDATES "," INDICES "}",
                       data, sizeof(data));
    assert_int_equal(infer_answer(&f, "tensor_scatter_add", file, size), ERROR_NONE);
    const char *header = "{\"__metadata__\":{\"id\":\"a\\\"b\",\"ignored_indices\":\"1\"},"
                         "\"output\":{";
    assert_memory_equal(f.response.data + 8, header, strlen(header));
}

static void accept_may_ask_for_another_form(void **state)
{
    (void)state;
    f.head.accepted = ENCODING_JSON;
    assert_int_equal(infer_answer(&f, "tensor_scatter_add", file,
                                  make(EXAMPLE, example_data, sizeof(example_data))),
                     ERROR_NONE);
    assert_memory_equal(f.response.data, "{\"model_name\"", 13);
    assert_string_equal(f.response.content_type, "application/json");
}

static void lengths_of_the_header(void **state)
{
    static const uint64_t lengths[] = {3, 100000001, UINT64_MAX, (uint64_t)1 << 63};
    (void)state;
    for (size_t size = 0; size < 8; size++)
        assert_int_equal(infer_decode(&f, "scatter_nd", "\2\0\0\0\0\0\0\0", size),
                         ERROR_INVALID_HEADER);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        memcpy(file, &lengths[i], 8);
        memcpy(file + 8, "{}", 2);
        assert_int_equal(infer_decode(&f, "scatter_nd", file, 10), ERROR_INVALID_HEADER);
        assert_non_null(strstr(f.error.message, "safetensors header"));
    }
    f.rules.json_limit = 100;
    expect_bad("{                                                                               "
               "                         }",
               0, ERROR_PAYLOAD_TOO_LARGE, "max_json");
}

static void headers_that_are_not_json(void **state)
{
    (void)state;
    expect_bad("", 0, ERROR_INVALID_JSON, "'{'");
    expect_bad(" {}", 0, ERROR_INVALID_JSON, "'{'");
    expect_bad("[]", 0, ERROR_INVALID_JSON, "'{'");
    expect_bad("{} x", 0, ERROR_INVALID_JSON, "");
    expect_bad("{" TENSOR, 16, ERROR_INVALID_JSON, "");
    expect_bad("{'\xff':1}", 0, ERROR_INVALID_JSON, "");
    expect_bad("{" TENSOR "," TENSOR "}", 16, ERROR_INVALID_JSON, "tensor");
    expect_bad("{'__metadata__':{'a':'1','a':'2'}}", 0, ERROR_INVALID_JSON, "a");
    expect_bad("{'tensor':{'dtype':'F32','dtype':'F32','shape':[1],'data_offsets':[0,4]}}", 4,
               ERROR_INVALID_JSON, "dtype");
}

static void members_that_are_wrong(void **state)
{
    (void)state;
    expect_bad("{'__metadata__':5}", 0, ERROR_INVALID_FIELD, "__metadata__ is 5");
    expect_bad("{'__metadata__':{'a':5}}", 0, ERROR_INVALID_FIELD, "expected a string");
    expect_bad("{'tensor':5}", 0, ERROR_INVALID_FIELD, "tensor is 5");
    expect_bad("{'tensor':{'dtype':'F32','shape':[1]}}", 4, ERROR_INVALID_FIELD, "tensor");
    expect_bad("{'tensor':{'dtype':'F32','shape':[1],'offsets':[0,4]}}", 4, ERROR_INVALID_FIELD,
               "tensor has no data_offsets");
    expect_bad("{'tensor':{'dtype':'F32','shape':[1],'data_offsets':[0,4],'x':1}}", 4,
               ERROR_INVALID_FIELD, "nothing else");
    expect_bad("{'weights':{'dtype':'F32','shape':[1],'data_offsets':[0,4]}}", 4,
               ERROR_UNKNOWN_INPUT, "weights");
    expect_bad("{'inputs':{'dtype':'F32','shape':[1],'data_offsets':[0,4]}}", 4,
               ERROR_UNKNOWN_INPUT, "inputs");
    expect_bad("{" TENSOR ",'input_x':{'dtype':'F32','shape':[0],'data_offsets':[16,16]}}", 16,
               ERROR_DUPLICATE_INPUT, "input_x");
}

/* Numbers that are equal to integers but not written as the format writes them are refused. */
static void numbers_are_plain_integers(void **state)
{
    static const char *const dimensions[] = {"1.0", "1e0", "-0", "-1", "true", "null", "1E2"};
    char header[256];
    (void)state;
    for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++) {
        snprintf(header, sizeof(header),
                 "{'tensor':{'dtype':'F32','shape':[%s],'data_offsets':[0,4]}}", dimensions[i]);
        expect_bad(header, 4, ERROR_INVALID_FIELD, "plain digits");
    }
    expect_bad("{'tensor':{'dtype':'F32','shape':[01],'data_offsets':[0,4]}}", 4,
               ERROR_INVALID_JSON, "");
    expect_bad("{'tensor':{'dtype':'F32','shape':['1'],'data_offsets':[0,4]}}", 4,
               ERROR_INVALID_FIELD, "\"1\"");
    /* Inside of strings everything is allowed. */
    assert_int_equal(read_file("{'__metadata__':{'note':'-1.0e5 \\u0041\\\\ null'}}", NULL, 0),
                     ERROR_NONE);
}

static void shapes_that_are_wrong(void **state)
{
    (void)state;
    expect_bad("{'tensor':{'dtype':'F32','shape':4,'data_offsets':[0,16]}}", 16,
               ERROR_INVALID_FIELD, "shape of tensor is 4");
    expect_bad("{'tensor':{'dtype':'F32','shape':[2,18446744073709551614],'data_offsets':[0,16]}}",
               16, ERROR_INVALID_FIELD, "2^53");
    expect_bad("{'tensor':{'dtype':'F32','shape':[4294967296,4294967296],'data_offsets':[0,16]}}",
               16, ERROR_SIZE_MISMATCH, "64 bits");
    expect_bad("{'tensor':{'dtype':'F32','shape':[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"
               "'data_offsets':[0,4]}}",
               4, ERROR_SHAPE_MISMATCH, "17 dimensions");
    expect_bad("{'tensor':{'dtype':'F32','shape':[3],'data_offsets':[0,16]}}", 16,
               ERROR_SIZE_MISMATCH, "tensor has 16 bytes, but F");
}

static void offsets_that_are_wrong(void **state)
{
    static const char *const offsets[] = {"[]", "[0]", "[0,4,8]", "5", "['0','4']", "[4,0]"};
    char header[256];
    (void)state;
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        snprintf(header, sizeof(header), "{'tensor':{'dtype':'F32','shape':[1],'data_offsets':%s}}",
                 offsets[i]);
        expect_bad(header, 4, ERROR_INVALID_FIELD, "data_offsets of tensor");
    }
}

static void every_byte_belongs_to_one_tensor(void **state)
{
#define TWO(A, B)                                                                                  \
    "{'tensor':{'dtype':'F32','shape':[1],'data_offsets':" A "},"                                  \
    "'updates':{'dtype':'F32','shape':[1],'data_offsets':" B "}}"
    (void)state;
    assert_int_equal(read_file(TWO("[4,8]", "[0,4]"), example_data, 8), ERROR_NONE);
    assert_memory_equal(f.request.inputs[0].data, example_data + 4, 4);
    expect_bad(TWO("[0,4]", "[8,12]"), 12, ERROR_SIZE_MISMATCH,
               "data_offsets of updates begin at 8; expected 4");
    expect_bad(TWO("[0,4]", "[2,6]"), 8, ERROR_SIZE_MISMATCH, "begin at 2; expected 4");
    expect_bad(TWO("[0,4]", "[0,4]"), 8, ERROR_SIZE_MISMATCH, "begin at 0; expected 4");
    expect_bad(TWO("[4,8]", "[8,12]"), 12, ERROR_SIZE_MISMATCH, "begin at 4; expected 0");
    expect_bad(TWO("[0,4]", "[4,8]"), 9, ERROR_SIZE_MISMATCH, "9 bytes of data");
    expect_bad(TWO("[0,4]", "[4,8]"), 7, ERROR_SIZE_MISMATCH, "7 bytes of data");
    expect_bad("{}", 1, ERROR_SIZE_MISMATCH, "1 bytes of data");
    expect_bad(TWO("[0,9007199254740991]", "[9007199254740991,9007199254740991]"), 8,
               ERROR_SIZE_MISMATCH, "9007199254740991");
#undef TWO
}

static void every_lack_of_memory_is_an_error(void **state)
{
    (void)state;
    f.misaligned = 1;
    size_t size = make(EXAMPLE, example_data, sizeof(example_data));
    assert_int_equal(infer_answer(&f, "tensor_scatter_add", file, size), ERROR_NONE);
    size_t gets = f.memory.gets;
    assert_true(gets >= 4);
    for (size_t n = 1; n <= gets; n++) {
        f.memory.fail_at = n;
        assert_int_equal(infer_answer(&f, "tensor_scatter_add", file, size),
                         ERROR_RESOURCE_EXHAUSTED);
    }
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_documented_example),
        TEST(tensors_are_views_in_any_order),
        TEST(every_type_by_its_name),
        TEST(scalars_and_empty_tensors),
        TEST(complex_tensors_both_ways),
        TEST(metadata_may_be_long),
        TEST(a_mistyped_parameter_of_metadata_is_told),
        TEST(metadata_holds_parameters_and_the_id),
        TEST(the_answer_says_id_and_ignored_rows),
        TEST(accept_may_ask_for_another_form),
        TEST(lengths_of_the_header),
        TEST(headers_that_are_not_json),
        TEST(members_that_are_wrong),
        TEST(numbers_are_plain_integers),
        TEST(shapes_that_are_wrong),
        TEST(offsets_that_are_wrong),
        TEST(every_byte_belongs_to_one_tensor),
        TEST(every_lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
