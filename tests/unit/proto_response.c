/* response: answers in every encoding, byte for byte. */
#include "proto/answer/response.h"

#include "tests/support/proto/infer_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Answers a JSON request; ' stands for ". */
static enum error_code answer(const char *op, const char *json)
{
    char *text = quote(json);
    enum error_code code = infer_answer(&f, op, text, strlen(text));
    free(text);
    return code;
}

static void expect_text(const char *bytes, size_t size, const char *json)
{
    char *text = quote(json);
    if (size != strlen(text) || memcmp(bytes, text, size) != 0)
        fail_msg("%.*s is not %s", (int)size, bytes, text);
    free(text);
}

static void expect_json(const char *op, const char *json, const char *expected)
{
    if (answer(op, json) != ERROR_NONE)
        fail_msg("%s: %s", error_name(f.error.code), f.error.message);
    assert_int_equal(f.response.data[f.response.size - 1], '\n');
    expect_text(f.response.data, f.response.size - 1, expected);
    assert_int_equal(f.response.header_length, -1);
    assert_string_equal(f.response.content_type, "application/json");
}

/* A binary answer: this JSON, spaces to a multiple of 64, and this many bytes after it. */
static const char *expect_binary(const char *op, const char *json, const char *expected,
                                 size_t bytes)
{
    if (answer(op, json) != ERROR_NONE)
        fail_msg("%s: %s", error_name(f.error.code), f.error.message);
    size_t head = (size_t)f.response.header_length, text = head;
    assert_int_equal(head % 64, 0);
    assert_int_equal(f.response.size, head + bytes);
    assert_string_equal(f.response.content_type, "application/octet-stream");
    while (text > 0 && f.response.data[text - 1] == ' ')
        text--;
    assert_true(head - text < 64);
    expect_text(f.response.data, text, expected);
    return f.response.data + head;
}

#define INPUTS "'inputs':{'tensor':[1,2],'indices':[[1]],'updates':[5]}"
#define HEAD   "{'model_name':'tensor_scatter_add','model_version':'1',"
#define OUT    "'outputs':[{'name':'output','datatype':'FP32','shape':[2],"
#define BINARY "'parameters':{'binary_data_output':true}"

static void json_has_these_keys_in_this_order(void **state)
{
    (void)state;
    expect_json("tensor_scatter_add", "{" INPUTS "}", HEAD OUT "'data':[1.0,7.0]}]}");
    expect_json("tensor_scatter_add", "{" INPUTS ",'id':'a\\u0001\\'b'}",
                "{'model_name':'tensor_scatter_add','model_version':'1','id':'a\\u0001\\'b'," OUT
                "'data':[1.0,7.0]}]}");
    expect_json("tensor_scatter_add", "{" INPUTS ",'id':'\\u0000a\\u0000'}",
                "{'model_name':'tensor_scatter_add','model_version':'1','id':'\\u0000a\\u0000'," OUT
                "'data':[1.0,7.0]}]}");
}

static void the_name_is_the_one_that_the_client_used(void **state)
{
    (void)state;
    expect_json("TensorScatterNdAdd", "{" INPUTS "}",
                "{'model_name':'TensorScatterNdAdd','model_version':'1'," OUT
                "'data':[1.0,7.0]}]}");
}

static void binary_stands_at_a_multiple_of_64(void **state)
{
    static const float expected[] = {1, 7};
    (void)state;
    const char *data = expect_binary("tensor_scatter_add", "{" INPUTS "," BINARY "}",
                                     HEAD OUT "'parameters':{'binary_data_size':8}}]}", 8);
    assert_memory_equal(data, expected, 8);
}

/* Made in place in the request's own bytes, with the header over what lay in front. */
static void a_binary_tensor_is_answered_where_it_lies(void **state)
{
    static const float data[] = {1, 2, 3, 4, 5}, expected[] = {1, 7, 3, 4};
    static const char json[] =
        "{\"inputs\":[{\"name\":\"indices\",\"data\":[[1]]},"
        "{\"name\":\"tensor\",\"shape\":[4],\"parameters\":{\"binary_data_size\":16}},"
        "{\"name\":\"updates\",\"shape\":[1],\"parameters\":{\"binary_data_size\":4}}],"
        "\"id\":\"0123456789\",\"parameters\":{\"binary_data_output\":true}}";
    char body[1024];
    (void)state;
    f.head.body = ENCODING_BINARY;
    f.head.header_length = sizeof(json) - 1;
    f.lead = sizeof(json) - 1;
    memcpy(body, json, sizeof(json) - 1);
    memcpy(body + sizeof(json) - 1, data, sizeof(data));
    assert_int_equal(infer_answer(&f, "tensor_scatter_add", body, sizeof(json) - 1 + sizeof(data)),
                     ERROR_NONE);
    assert_ptr_equal(f.response.data + f.response.header_length, f.body + sizeof(json) - 1);
    assert_memory_equal(f.body + sizeof(json) - 1, expected, 16);
    assert_non_null(strstr(f.response.data, "\"id\":\"0123456789\""));
}

static void the_longest_id_fits_in_front(void **state)
{
    char json[2048], id[1200] = "";
    (void)state;
    for (int i = 0; i < REQUEST_ID_MAX; i++) /* each takes six bytes when it is printed */
        strcat(id, i % 2 ? "\\u001f" : "\\n");
    snprintf(json, sizeof(json), "{" INPUTS ",'id':'%s'," BINARY "}", id);
    assert_int_equal(answer("tensor_scatter_add", json), ERROR_NONE);
    assert_true(f.response.header_length < ANSWER_HEAD_ROOM);
}

static void an_empty_result_still_has_a_length(void **state)
{
    (void)state;
    expect_binary("scatter_nd",
                  "{'inputs':{'indices':{'shape':[0,1],'data':[]},'updates':{'shape':[0],"
                  "'data':[]},'shape':[0]}," BINARY "}",
                  "{'model_name':'scatter_nd','model_version':'1','outputs':[{'name':'output',"
                  "'datatype':'FP32','shape':[0],'parameters':{'binary_data_size':0}}]}",
                  0);
    expect_json("scatter_nd",
                "{'inputs':{'indices':{'shape':[0,1],'data':[]},'updates':{'shape':[0],"
                "'data':[]},'shape':[0]}}",
                "{'model_name':'scatter_nd','model_version':'1','outputs':[{'name':'output',"
                "'datatype':'FP32','shape':[0],'data':[]}]}");
}

static void a_scalar_has_an_empty_shape(void **state)
{
    (void)state;
    expect_json("gather_nd", "{'inputs':{'params':[5,6],'indices':[1]}}",
                "{'model_name':'gather_nd','model_version':'1','outputs':[{'name':'output',"
                "'datatype':'FP32','shape':[],'data':[6.0]}]}");
}

static void ignored_rows_are_counted(void **state)
{
    (void)state;
    expect_json("tensor_scatter_add",
                "{'inputs':{'tensor':[1,2],'indices':[[1],[2],[-1]],'updates':[5,6,7]},"
                "'id':'x','parameters':{'bad_indices_policy':'IGNORE'}}",
                "{'model_name':'tensor_scatter_add','model_version':'1','id':'x',"
                "'parameters':{'ignored_indices':2}," OUT "'data':[1.0,7.0]}]}");
    expect_json("tensor_scatter_add", "{" INPUTS ",'parameters':{'bad_indices_policy':'IGNORE'}}",
                HEAD OUT "'data':[1.0,7.0]}]}");
}

#define NAN_INPUTS "'inputs':{'params':[%s],'indices':[[0]]}"
#define GATHERED                                                                                   \
    "{'model_name':'gather_nd','model_version':'1','outputs':[{'name':'output',"                   \
    "'datatype':'FP32','shape':[1],'data':[%s]}]}"

static void numbers_that_are_not_finite(void **state)
{
    static const struct {
        const char *element, *policy, *text; /* NULL: an error */
    } rows[] = {
        {"NaN", "", "NaN"},
        {"-Infinity", "", "-Infinity"},
        {"'NaN'", "", NULL},
        {"'Infinity'", ",'parameters':{'json_nonfinite':'token'}", "Infinity"},
        {"'-Infinity'", ",'parameters':{'json_nonfinite':'string'}", "'-Infinity'"},
        {"'NaN'", ",'parameters':{'json_nonfinite':'null'}", "null"},
        {"NaN", ",'parameters':{'json_nonfinite':'error'}", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char json[256], expected[256];
        snprintf(json, sizeof(json), "{" NAN_INPUTS "%s}", rows[i].element, rows[i].policy);
        if (rows[i].text) {
            snprintf(expected, sizeof(expected), GATHERED, rows[i].text);
            expect_json("gather_nd", json, expected);
        } else {
            assert_int_equal(answer("gather_nd", json), ERROR_NONFINITE_IN_JSON);
            assert_non_null(strstr(f.error.message, "binary"));
        }
    }
}

#define STRINGS "'params':{'datatype':'BYTES','data':['ab','','z\\u00e9']},'indices':[[2],[0],[1]]"

static void strings_in_json(void **state)
{
    (void)state;
    expect_json("gather_nd", "{'inputs':{" STRINGS "}}",
                "{'model_name':'gather_nd','model_version':'1','outputs':[{'name':'output',"
                "'datatype':'BYTES','shape':[3],'data':['z\xc3\xa9','ab','']}]}");
}

static void strings_in_binary(void **state)
{
    static const char expected[] = "\3\0\0\0z\xc3\xa9\2\0\0\0ab\0\0\0";
    (void)state;
    const char *data =
        expect_binary("gather_nd", "{'inputs':{" STRINGS "}," BINARY "}",
                      "{'model_name':'gather_nd','model_version':'1','outputs':[{'name':'output',"
                      "'datatype':'BYTES','shape':[3],'parameters':{'binary_data_size':17}}]}",
                      17);
    assert_memory_equal(data, expected, 17);
}

/* The spans of the answer point into the body, in front of which a header is written. */
static void strings_that_came_in_binary(void **state)
{
    static const char data[] = "\2\0\0\0ab\1\0\0\0c\2\0\0\0xy", expected[] = "\2\0\0\0ab\2\0\0\0xy";
    static const char json[] =
        "{\"inputs\":[{\"name\":\"tensor\",\"shape\":[2],\"datatype\":\"BYTES\","
        "\"parameters\":{\"binary_data_size\":11}},{\"name\":\"updates\",\"shape\":[1],"
        "\"parameters\":{\"binary_data_size\":6}},{\"name\":\"indices\",\"data\":[[1]]}],"
        "\"parameters\":{\"binary_data_output\":true}}";
    char body[1024];
    size_t size = sizeof(json) - 1 + sizeof(data) - 1;
    (void)state;
    f.head.body = ENCODING_BINARY;
    f.head.header_length = sizeof(json) - 1;
    memcpy(body, json, sizeof(json) - 1);
    memcpy(body + sizeof(json) - 1, data, sizeof(data) - 1);
    assert_int_equal(infer_answer(&f, "tensor_scatter_update", body, size), ERROR_NONE);
    assert_int_equal(f.response.size - (size_t)f.response.header_length, sizeof(expected) - 1);
    assert_memory_equal(f.response.data + f.response.header_length, expected, sizeof(expected) - 1);
}

static void strings_that_are_not_utf8_need_binary(void **state)
{
    static const char json[] =
        "{\"inputs\":[{\"name\":\"params\",\"shape\":[1],\"datatype\":\"BYTES\","
        "\"parameters\":{\"binary_data_size\":5}},{\"name\":\"indices\",\"data\":[[0]]}]}";
    char body[512];
    (void)state;
    f.head.body = ENCODING_BINARY;
    f.head.header_length = sizeof(json) - 1;
    memcpy(body, json, sizeof(json) - 1);
    memcpy(body + sizeof(json) - 1, "\1\0\0\0\xff", 5);
    assert_int_equal(infer_answer(&f, "gather_nd", body, sizeof(json) - 1 + 5), ERROR_NOT_UTF8);
}

static void strings_have_a_limit(void **state)
{
    (void)state;
    f.rules.output_limit = 16;
    assert_int_equal(answer("gather_nd", "{'inputs':{" STRINGS "}," BINARY "}"),
                     ERROR_OUTPUT_TOO_LARGE);
    assert_non_null(strstr(f.error.message, "max_output"));
}

static void safetensors_cannot_say_strings(void **state)
{
    (void)state;
    f.head.accepted = ENCODING_SAFETENSORS;
    assert_int_equal(answer("gather_nd", "{'inputs':{" STRINGS "}}"), ERROR_UNSUPPORTED_DTYPE);
    assert_non_null(strstr(f.error.message, "BYTES"));
}

static void json_may_become_safetensors(void **state)
{
    static const float expected[] = {1, 7};
    uint64_t length;
    (void)state;
    f.head.accepted = ENCODING_SAFETENSORS;
    f.head.safetensors_type = "application/x-safetensors";
    assert_int_equal(answer("tensor_scatter_add", "{" INPUTS "}"), ERROR_NONE);
    memcpy(&length, f.response.data, 8);
    assert_int_equal(f.response.size, 8 + length + 8);
    assert_memory_equal(f.response.data + 8 + length, expected, 8);
    assert_string_equal(f.response.content_type, "application/x-safetensors");
    assert_int_equal(f.response.header_length, -1);
}

static void text_that_could_be_too_long_is_refused_before_the_run(void **state)
{
    (void)state;
    f.rules.output_limit = 100;
    assert_int_equal(
        answer("scatter_nd", "{'inputs':{'indices':[[0]],'updates':[1],'shape':[20]}}"),
        ERROR_OUTPUT_TOO_LARGE);
    assert_non_null(strstr(f.error.message, "ask for binary"));
    assert_non_null(strstr(f.error.message, "the limit is 100 (setting max_output)"));
    assert_int_equal(
        answer("scatter_nd", "{'inputs':{'indices':[[0]],'updates':[1],'shape':[20]}," BINARY "}"),
        ERROR_NONE);
}

static void what_encode_takes_was_said_before(void **state)
{
    (void)state;
    char *text = quote("{" INPUTS "}");
    assert_int_equal(infer_decode(&f, "tensor_scatter_add", text, strlen(text)), ERROR_NONE);
    assert_int_equal(infer_run(&f), ERROR_NONE);
    size_t before = f.memory.bytes;
    assert_int_equal(response_encode(&f.response, &f.request, &f.plan, &f.memory.work, &f.error),
                     ERROR_NONE);
    assert_true(f.memory.bytes - before <= response_memory(&f.request, &f.plan));
    f.request.answer = ENCODING_BINARY;
    assert_int_equal(response_memory(&f.request, &f.plan), 0);
    before = f.memory.bytes;
    assert_int_equal(response_encode(&f.response, &f.request, &f.plan, &f.memory.work, &f.error),
                     ERROR_NONE);
    assert_int_equal(f.memory.bytes, before);
    free(text);
}

static void every_lack_of_memory_is_an_error(void **state)
{
    static const char *const requests[] = {"{'inputs':{" STRINGS "}}",
                                           "{'inputs':{" STRINGS "}," BINARY "}"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        f.memory.fail_at = 0;
        assert_int_equal(answer("gather_nd", requests[i]), ERROR_NONE);
        size_t gets = f.memory.gets;
        assert_true(gets >= 5);
        for (size_t n = 1; n <= gets; n++) {
            f.memory.fail_at = n;
            assert_int_equal(answer("gather_nd", requests[i]), ERROR_RESOURCE_EXHAUSTED);
        }
    }
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(json_has_these_keys_in_this_order),
        TEST(the_name_is_the_one_that_the_client_used),
        TEST(binary_stands_at_a_multiple_of_64),
        TEST(a_binary_tensor_is_answered_where_it_lies),
        TEST(the_longest_id_fits_in_front),
        TEST(an_empty_result_still_has_a_length),
        TEST(a_scalar_has_an_empty_shape),
        TEST(ignored_rows_are_counted),
        TEST(numbers_that_are_not_finite),
        TEST(strings_in_json),
        TEST(strings_in_binary),
        TEST(strings_that_came_in_binary),
        TEST(strings_that_are_not_utf8_need_binary),
        TEST(strings_have_a_limit),
        TEST(safetensors_cannot_say_strings),
        TEST(json_may_become_safetensors),
        TEST(text_that_could_be_too_long_is_refused_before_the_run),
        TEST(what_encode_takes_was_said_before),
        TEST(every_lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
