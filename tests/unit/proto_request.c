/* request: JSON and JSON + binary become tensors and wishes; each mistake is named. */
#include "proto/request/request.h"

#include "tests/support/proto/infer_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Decodes JSON in which ' stands for ", with raw bytes behind it when there are some. */
static enum error_code decode_with(const char *op, const char *json, const void *raw, size_t size)
{
    char *text = quote(json), body[4096];
    size_t length = strlen(text);
    assert_true(length + size <= sizeof(body));
    memcpy(body, text, length);
    if (size > 0)
        memcpy(body + length, raw, size);
    free(text);
    if (raw) {
        f.head.body = ENCODING_BINARY;
        f.head.header_length = (int64_t)length;
        f.lead = length;
    }
    return infer_decode(&f, op, body, length + size);
}

static enum error_code decode(const char *json)
{
    return decode_with("tensor_scatter_add", json, NULL, 0);
}

static void expect_good(const char *json)
{
    if (decode(json) != ERROR_NONE)
        fail_msg("%s: %s: %s", json, error_name(f.error.code), f.error.message);
}

static void expect_bad(const char *json, enum error_code code, const char *part)
{
    enum error_code got = decode(json);
    if (got != code || !strstr(f.error.message, part))
        fail_msg("%s: %s: %s", json, error_name(got), got ? f.error.message : "");
}

static void expect_tensor(int input, enum dtype dtype, const char *shape)
{
    const struct tensor *t = &f.request.inputs[input];
    char text[SHAPE_TEXT_MAX];
    assert_int_equal(t->dtype, dtype);
    assert_string_equal(shape_print(text, t->shape, t->rank), shape);
}

#define INDICES    "{'name':'indices','datatype':'INT32','shape':[2,1],'data':[1,3]}"
#define UPDATES    "{'name':'updates','datatype':'FP32','shape':[2],'data':[10,20]}"
#define TENSOR     "{'name':'tensor','datatype':'FP32','shape':[4],'data':[1,2,3,4]}"
#define INPUTS     "'inputs':[" TENSOR "," INDICES "," UPDATES "]"
#define WITH(MORE) "{" INPUTS "," MORE "}"

static void a_request_of_the_python_client(void **state)
{
    (void)state;
    expect_good("{'id':'r-1'," INPUTS "}");
    assert_string_equal(f.request.id, "r-1");
    expect_tensor(0, DTYPE_FP32, "[4]");
    expect_tensor(1, DTYPE_INT32, "[2, 1]");
    expect_tensor(2, DTYPE_FP32, "[2]");
    assert_int_equal(f.request.inputs[3].dtype, DTYPE_NONE);
    assert_true(((float *)f.request.inputs[2].data)[1] == 20);
    assert_int_equal(f.request.answer, ENCODING_JSON);
    assert_int_equal(f.request.device, DEVICE_DEFAULT);
    assert_int_equal(f.request.device_index, -1);
    assert_int_equal(f.request.timeout_us, 0);
    assert_int_equal(f.request.nonfinite, NONFINITE_ERROR);
    assert_false(f.request.ignore_bad);
}

static void keys_in_any_order_and_unknown_ones(void **state)
{
    (void)state;
    expect_good("{'model_name':'x','inputs':["
                "{'data':[1,2,3,4],'datatype':'FP32','name':'tensor','shape':[4],"
                "'parameters':{'content_type':'np','deep':{'er':[1,[2]]}},'more':null},"
                "{'data':[[1],[3]],'datatype':'INT64','name':'indices','shape':[2,1]},"
                "{'shape':[2],'data':[1,2],'name':'updates','datatype':'FP32'}],"
                "'parameters':{'custom':[1],'sequence_id':5,'sequence_start':true,'priority':1},"
                "'x':{'inputs':5}}");
    expect_tensor(1, DTYPE_INT64, "[2, 1]");
    assert_int_equal(((int64_t *)f.request.inputs[1].data)[1], 3);
}

static void null_members_are_absent(void **state)
{
    (void)state;
    expect_good("{'id':null,'parameters':null,'outputs':null,'inputs':["
                "{'name':'tensor','datatype':null,'shape':null,'data':[1],'parameters':null},"
                "{'name':'indices','datatype':'INT32','shape':[1,1],'data':[0],"
                "'parameters':{'binary_data_size':null}}," UPDATES "]}");
    expect_tensor(0, DTYPE_FP32, "[1]");
    assert_string_equal(f.request.id, "");
}

static void an_empty_id_is_none(void **state)
{
    (void)state;
    expect_good(WITH("'id':''"));
    assert_string_equal(f.request.id, "");
}

static void an_id_is_decoded_and_bounded(void **state)
{
    char json[2048], id[300];
    (void)state;
    expect_good(WITH("'id':'a\\u00e9\\n\\ud83d\\ude00'"));
    assert_string_equal(f.request.id, "a\xc3\xa9\n\xf0\x9f\x98\x80");
    memset(id, 'x', sizeof(id));
    id[256] = '\0';
    snprintf(json, sizeof(json), WITH("'id':'%s'"), id);
    expect_good(json);
    assert_int_equal(strlen(f.request.id), 256);
    snprintf(json, sizeof(json), WITH("'id':'%sy'"), id);
    expect_bad(json, ERROR_INVALID_FIELD, "id has 257 bytes; at most 256");
    expect_bad(WITH("'id':7"), ERROR_INVALID_FIELD, "id is 7; expected a string");
}

static void the_short_form(void **state)
{
    (void)state;
    expect_good("{'inputs':{'tensor':[1,2,3],'indices':[[1]],'updates':[5]}}");
    expect_tensor(0, DTYPE_FP32, "[3]");
    expect_tensor(1, DTYPE_INT64, "[1, 1]");
    expect_tensor(2, DTYPE_FP32, "[1]");
    expect_good("{'inputs':{'tensor':{'datatype':'FP64','data':[[1,2]],'shape':[1,2]},"
                "'indices':{'shape':[0,1],'data':[]},'updates':{'shape':[0,2],'data':[]}}}");
    expect_tensor(0, DTYPE_FP64, "[1, 2]");
    expect_tensor(1, DTYPE_INT64, "[0, 1]");
    expect_tensor(2, DTYPE_FP64, "[0, 2]");
}

static void a_missing_type_is_that_of_the_other_value(void **state)
{
    (void)state;
    expect_good("{'inputs':[{'name':'tensor','data':[1]},"
                "{'name':'indices','shape':[1,1],'data':[0]},"
                "{'name':'updates','datatype':'INT8','data':[2]}]}");
    expect_tensor(0, DTYPE_INT8, "[1]");
    expect_tensor(1, DTYPE_INT64, "[1, 1]");
    assert_int_equal(decode_with("scatter_nd",
                                 "{'inputs':{'indices':[[0]],'updates':[5],'shape':[4]}}", NULL, 0),
                     ERROR_NONE);
    expect_tensor(0, DTYPE_INT64, "[1, 1]");
    expect_tensor(1, DTYPE_FP32, "[1]");
    expect_tensor(2, DTYPE_INT64, "[1]");
    assert_int_equal(decode_with("sparse_segment_sum",
                                 "{'inputs':{'data':[[1]],'indices':[0],'segment_ids':[0],"
                                 "'num_segments':3}}",
                                 NULL, 0),
                     ERROR_NONE);
    expect_tensor(3, DTYPE_INT64, "[]");
}

static void aliases_of_the_first_tensor(void **state)
{
    (void)state;
    expect_good("{'inputs':{'input_x':[1],'indices':[[0]],'updates':[5]}}");
    expect_tensor(0, DTYPE_FP32, "[1]");
    expect_good("{'inputs':{'x':[1],'indices':[[0]],'updates':[5]}}");
    expect_good("{'inputs':{'input':[1],'indices':[[0]],'updates':[5]}}");
}

static void inputs_that_are_wrong(void **state)
{
    (void)state;
    expect_bad("[1]", ERROR_INVALID_FIELD, "the JSON text is an array; expected an object");
    expect_bad("5", ERROR_INVALID_FIELD, "the JSON text is 5");
    expect_bad("{}", ERROR_INVALID_FIELD, "no inputs");
    expect_bad("{'inputs':null}", ERROR_INVALID_FIELD, "no inputs");
    expect_bad("{'inputs':'x'}", ERROR_INVALID_FIELD,
               "inputs is \"x\"; expected an array or an object");
    expect_bad("{'inputs':[5]}", ERROR_INVALID_FIELD, "inputs[0] is 5; expected an object");
    expect_bad("{'inputs':[{'data':[1]}]}", ERROR_INVALID_FIELD, "no name");
    expect_bad("{'inputs':[{'name':5,'data':[1]}]}", ERROR_INVALID_FIELD,
               "name of inputs[0] is 5; expected a string");
    expect_bad("{'inputs':[{'name':'weights','data':[1]}]}", ERROR_UNKNOWN_INPUT,
               "tensor_scatter_add has no input \"weights\"; it has tensor, indices, updates");
    expect_bad("{'inputs':{'weights':[1]}}", ERROR_UNKNOWN_INPUT, "weights");
    expect_bad("{'inputs':[" TENSOR "," TENSOR "]}", ERROR_DUPLICATE_INPUT,
               "tensor is given more than once");
    expect_bad("{'inputs':{'tensor':[1],'input_x':[1]}}", ERROR_DUPLICATE_INPUT, "input_x");
    expect_bad("{'inputs':[{'name':'tensor'}]}", ERROR_INVALID_FIELD,
               "tensor has neither data nor parameters.binary_data_size");
    expect_bad("{'inputs':[{'name':'tensor','data':null}]}", ERROR_INVALID_FIELD, "neither");
    expect_bad("{'inputs':[{'name':'tensor','data':[1],'parameters':{'binary_data_size':0}}]}",
               ERROR_INVALID_FIELD, "both");
    expect_bad("{'inputs':[{'name':'tensor','data':[1],'parameters':5}]}", ERROR_INVALID_FIELD,
               "parameters of tensor is 5; expected an object");
    expect_bad("{'inputs':[{'name':'tensor','data':[1],"
               "'parameters':{'shared_memory_region':'r'}}]}",
               ERROR_DUPLICATE_INPUT, "has data and is the tensor");
}

static void types_and_shapes_that_are_wrong(void **state)
{
    (void)state;
    expect_bad("{'inputs':[{'name':'tensor','datatype':5,'data':[1]}]}", ERROR_INVALID_FIELD,
               "datatype of tensor is 5; expected a string");
    expect_bad("{'inputs':[{'name':'tensor','datatype':'FLOAT','data':[1]}]}",
               ERROR_UNSUPPORTED_DTYPE, "datatype of tensor is \"FLOAT\"");
    expect_bad("{'inputs':[{'name':'indices','datatype':'C64','data':[1]}]}",
               ERROR_UNSUPPORTED_DTYPE, "accepts INT32, INT64");
    expect_bad("{'inputs':[{'name':'tensor','datatype':'BYTES','data':['a']}]}",
               ERROR_UNSUPPORTED_DTYPE, "is BYTES; tensor_scatter_add accepts ");
    assert_null(strstr(f.error.message, "C64"));
    expect_bad("{'inputs':[{'name':'tensor','shape':4,'data':[1]}]}", ERROR_INVALID_FIELD,
               "shape of tensor is 4; expected an array of integers");
    expect_bad("{'inputs':[{'name':'tensor','shape':[-1],'data':[1]}]}", ERROR_INVALID_FIELD,
               "shape[0] of tensor is -1");
    expect_bad("{'inputs':[{'name':'tensor','shape':[1.5],'data':[1]}]}", ERROR_INVALID_FIELD,
               "is 1.5; expected an integer from 0 to 2^53 - 1");
    expect_bad("{'inputs':[{'name':'tensor','shape':['1'],'data':[1]}]}", ERROR_INVALID_FIELD,
               "is \"1\"");
    expect_bad("{'inputs':[{'name':'tensor','shape':[9007199254740994],'data':[1]}]}",
               ERROR_INVALID_FIELD, "2^53");
    expect_bad("{'inputs':[{'name':'tensor','shape':[0,9007199254740993],'data':[]}]}",
               ERROR_INVALID_FIELD, "2^53 - 1");
    expect_good("{'inputs':[{'name':'tensor','shape':[0,9007199254740991],'data':[]}]}");
    assert_int_equal(f.request.inputs[0].shape[1], 9007199254740991);
    expect_bad("{'inputs':[{'name':'tensor','shape':[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"
               "'data':[1]}]}",
               ERROR_SHAPE_MISMATCH, "17 dimensions; at most 16");
    expect_bad("{'inputs':[{'name':'tensor','shape':[3],'data':[1,2]}]}", ERROR_SIZE_MISMATCH,
               "tensor");
    expect_bad("{'inputs':[{'name':'tensor','shape':[2,2],'data':[[1,2,3],[4]]}]}",
               ERROR_SHAPE_MISMATCH, "tensor");
}

static void elements_in_the_order_of_the_inputs(void **state)
{
    static const unsigned char raw[] = {1,    0,    0, 0, 3,    0,    0, 0, 0, 0,
                                        0x20, 0x41, 0, 0, 0xa0, 0x41, 9, 8, 7, 6};
    (void)state;
    /* The order of the array, not that of the op's row. */
    assert_int_equal(decode_with("tensor_scatter_add",
                                 "{'inputs':[{'name':'indices','datatype':'INT32','shape':[2,1],"
                                 "'parameters':{'binary_data_size':8}},"
                                 "{'name':'updates','datatype':'FP32','shape':[2],"
                                 "'parameters':{'binary_data_size':8}},"
                                 "{'name':'tensor','datatype':'FP32','shape':[1],"
                                 "'parameters':{'binary_data_size':4}}],"
                                 "'parameters':{'binary_data_output':true}}",
                                 raw, sizeof(raw)),
                     ERROR_NONE);
    assert_int_equal(((int32_t *)f.request.inputs[1].data)[1], 3);
    assert_true(((float *)f.request.inputs[2].data)[1] == 20);
    assert_memory_equal(f.request.inputs[0].data, raw + 16, 4);
    assert_ptr_equal(f.request.inputs[0].data, f.body + f.lead + 16); /* nothing was copied */
    assert_int_equal(f.request.answer, ENCODING_BINARY);
}

#define RAW(NAME, TYPE, SHAPE, BYTES)                                                              \
    "{'name':'" NAME "','datatype':'" TYPE "','shape':" SHAPE                                      \
    ",'parameters':{'binary_data_size':" BYTES "}}"

static void json_and_binary_inputs_mix(void **state)
{
    static const float raw[] = {1, 2, 3, 4};
    (void)state;
    assert_int_equal(decode_with("tensor_scatter_add",
                                 "{'inputs':[" INDICES
                                 "," RAW("tensor", "FP32", "[4]", "16") "," UPDATES "]}",
                                 raw, sizeof(raw)),
                     ERROR_NONE);
    assert_memory_equal(f.request.inputs[0].data, raw, sizeof(raw));
}

static void a_header_as_long_as_the_body(void **state)
{
    (void)state;
    assert_int_equal(decode_with("tensor_scatter_add", "{" INPUTS "}", "", 0), ERROR_NONE);
    expect_tensor(0, DTYPE_FP32, "[4]");
}

static void sizes_that_do_not_fit_the_body(void **state)
{
    static const struct {
        const char *json;
        size_t raw;
        enum error_code code;
        const char *part;
    } rows[] = {
        {RAW("tensor", "FP32", "[4]", "16"), 15, ERROR_SIZE_MISMATCH,
         "binary_data_size of tensor is 16, but only 15 bytes are left in the body"},
        {RAW("tensor", "FP32", "[4]", "16"), 17, ERROR_SIZE_MISMATCH, "1 bytes after"},
        {RAW("tensor", "FP32", "[4]", "12"), 12, ERROR_SIZE_MISMATCH,
         "tensor has 12 bytes, but FP32 of shape [4] needs 16"},
        {RAW("tensor", "FP32", "[4]", "-1"), 0, ERROR_INVALID_FIELD, "-1"},
        {RAW("tensor", "FP32", "[4]", "1.5"), 0, ERROR_INVALID_FIELD, "1.5"},
        {RAW("tensor", "FP32", "[4]", "'16'"), 0, ERROR_INVALID_FIELD, "\"16\""},
        {RAW("tensor", "FP32", "[4]", "1e300"), 0, ERROR_INVALID_FIELD, "2^53"},
        {"{'name':'tensor','parameters':{'binary_data_size':4}}", 4, ERROR_INVALID_FIELD,
         "tensor has no shape; binary data needs one"},
    };
    static const char raw[32] = {0};
    char json[512];
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(json, sizeof(json), "{'inputs':[%s]}", rows[i].json);
        assert_int_equal(decode_with("tensor_scatter_add", json, raw, rows[i].raw), rows[i].code);
        assert_non_null(strstr(f.error.message, rows[i].part));
    }
}

static void without_a_length_a_binary_tensor_is_empty(void **state)
{
    (void)state;
    expect_good("{'inputs':[{'name':'tensor','datatype':'FP32','shape':[0],'data':null,"
                "'parameters':{'binary_data_size':0}}," INDICES "," UPDATES "]}");
    expect_tensor(0, DTYPE_FP32, "[0]");
    expect_bad("{'inputs':[" RAW("tensor", "FP32", "[4]", "16") "]}", ERROR_INVALID_HEADER,
               "Inference-Header-Content-Length");
    expect_bad("{'inputs':[" RAW("tensor", "FP32", "[4]", "0") "]}", ERROR_SIZE_MISMATCH, "16");
}

static void a_header_longer_than_the_body(void **state)
{
    (void)state;
    f.head.body = ENCODING_BINARY;
    f.head.header_length = 100;
    assert_int_equal(infer_decode(&f, "scatter_nd", "{}", 2), ERROR_INVALID_HEADER);
    assert_string_equal(f.error.message,
                        "Inference-Header-Content-Length is 100, but the body has only 2 bytes");
}

static void a_tensor_that_is_not_aligned_is_moved(void **state)
{
    static const char raw[12] = {1, 2, 3, 4, 5};
    (void)state;
    f.misaligned = 2;
    assert_int_equal(decode_with("tensor_scatter_add",
                                 "{'inputs':[" RAW("tensor", "FP32", "[1]", "4") "," RAW(
                                     "indices", "INT64", "[1,1]", "8") "]}",
                                 raw, sizeof(raw)),
                     ERROR_NONE);
    assert_int_equal((uintptr_t)f.request.inputs[0].data % 4, 0);
    assert_memory_equal(f.request.inputs[0].data, raw, 4);
    assert_int_equal((uintptr_t)f.request.inputs[1].data % 8, 0);
    assert_memory_equal(f.request.inputs[1].data, raw + 4, 8);
}

static void every_value_has_writable_room_in_front(void **state)
{
    static const float raw[] = {1, 2, 3, 4};
    (void)state;
    f.misaligned = 1;
    assert_int_equal(decode_with("tensor_scatter_add",
                                 "{'inputs':[" RAW("tensor", "FP32", "[4]", "16") "," INDICES
                                                                                  "," UPDATES "]}",
                                 raw, sizeof(raw)),
                     ERROR_NONE);
    memset((char *)f.request.inputs[0].data - ANSWER_HEAD_ROOM, 0, ANSWER_HEAD_ROOM);
    memset((char *)f.request.inputs[2].data - ANSWER_HEAD_ROOM, 0, ANSWER_HEAD_ROOM);
    assert_memory_equal(f.request.inputs[0].data, raw, sizeof(raw));
}

static void limits_are_named_with_their_settings(void **state)
{
    static const char raw[64] = {0};
    (void)state;
    f.rules.body_limit = 100;
    expect_bad(WITH("'id':'x'"), ERROR_PAYLOAD_TOO_LARGE, "the limit is 100 (setting max_body)");
    f.rules.body_limit = 1000;
    f.rules.json_limit = 50;
    expect_bad(WITH("'id':'x'"), ERROR_PAYLOAD_TOO_LARGE, "the limit is 50 (setting max_json)");
    f.rules.json_limit = 120; /* the binary tensor behind the JSON does not count */
    assert_int_equal(decode_with("tensor_scatter_add",
                                 "{'inputs':[" RAW("tensor", "UINT8", "[64]", "64") "]}", raw, 64),
                     ERROR_NONE);
}

static void json_that_is_none(void **state)
{
    (void)state;
    expect_bad("", ERROR_INVALID_JSON, "");
    expect_bad("{'inputs':[]} x", ERROR_INVALID_JSON, "");
    expect_bad("{'id':'a','id':'b','inputs':[]}", ERROR_INVALID_JSON, "id");
    expect_bad("{'id':'\\ud800','inputs':[]}", ERROR_INVALID_JSON, "");
}

/* A type that the client gives to one value input holds for the other, whose integers are then
 * rounded. */
static void an_integer_of_a_named_type_is_rounded(void **state)
{
    (void)state;
    expect_good("{'inputs':{'tensor':{'datatype':'FP32','data':[1]},'indices':[[0]],"
                "'updates':[16777217]}}");
    assert_true(((float *)f.request.inputs[2].data)[0] == 16777216);
    expect_bad("{'inputs':{'tensor':[1],'indices':[[0]],'updates':[16777217]}}",
               ERROR_VALUE_OUT_OF_RANGE, "updates[0] = 16777217 is not exact in FP32");
    expect_bad("{'inputs':{'tensor':[1],'indices':{'datatype':'INT32','data':[[0]]},"
               "'updates':{'shape':[1],'data':[16777217]}}}",
               ERROR_VALUE_OUT_OF_RANGE, "updates[0] = 16777217 is not exact in FP32");
    expect_good("{'inputs':{'tensor':{'datatype':'INT32','data':[1]},'indices':[[0]],"
                "'updates':[16777217]}}");
}

/* A number that stands where the server reads none may have any length. */
static void a_number_is_as_long_as_it_likes(void **state)
{
    static const char *const forms[] = {"'parameters':{'custom':%s}",
                                        "'parameters':{'custom':[%s]}", "'x':[1,%s,2]"};
    (void)state;
    for (size_t size = 1; size < 200; size++) {
        for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
            char json[1024], member[256], digits[256];
            memset(digits, '7', sizeof(digits));
            digits[size] = '\0';
            snprintf(member, sizeof(member), forms[i], digits);
            snprintf(json, sizeof(json), "{" INPUTS ",%s}", member);
            expect_good(json);
        }
    }
}

/* A NUL in a string is one more character: it neither ends a name nor is left out of it. */
static void a_nul_in_a_string_is_a_letter(void **state)
{
    (void)state;
    expect_good("{" INPUTS ",'x\\u0000':['\\u0000'],'id\\u0000':5,'id':'a\\u0000b'}");
    assert_string_equal(f.request.id, "a\xC0\x80"
                                      "b");
    expect_bad("{'inputs':[{'name':'tensor\\u0000','data':[1]}]}", ERROR_UNKNOWN_INPUT, "tensor");
    expect_bad("{'inputs':{'tensor\\u0000':[1]}}", ERROR_UNKNOWN_INPUT, "tensor");
    expect_bad("{'inputs':[{'name':'tensor','datatype':'FP32\\u0000','data':[1]}]}",
               ERROR_UNSUPPORTED_DTYPE, "FP32");
    expect_bad("{" INPUTS ",'parameters':{'device':'cpu\\u0000'}}", ERROR_INVALID_PARAMETER, "cpu");
    expect_good("{" INPUTS ",'parameters':{'device\\u0000x':'x'}}");
}

/* The text of a dimension decides, not the double that it rounds to; and the sentence shows the
 * text. */
static void a_dimension_is_an_integer_in_the_text(void **state)
{
    static const struct {
        const char *text;
        int64_t size; /* -1: refused */
    } rows[] = {
        {"3", 3},
        {"3.0", 3},
        {"0.3e1", 3},
        {"300e-2", 3},
        {"-0", 0},
        {"0e400", 0},
        {"2.9999999999999999999", -1},
        {"3.0000000000000000000000001", -1},
        {"1e-400", -1},
        {"-1e-400", -1},
        {"1e400", -1},
        {"-1", -1},
        {"9007199254740992", -1},
        {"9007199254740991.2", -1},
        {"18446744073709551619", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char json[256], sentence[160];
        snprintf(json, sizeof(json), "{'inputs':[{'name':'tensor','shape':[0,%s],'data':[]}]}",
                 rows[i].text);
        snprintf(sentence, sizeof(sentence),
                 "shape[1] of tensor is %s; expected an integer from 0 to 2^53 - 1", rows[i].text);
        if (rows[i].size < 0) {
            expect_bad(json, ERROR_INVALID_FIELD, sentence);
        } else {
            expect_good(json);
            assert_int_equal(f.request.inputs[0].shape[1], rows[i].size);
        }
    }
}

static void a_sentence_shows_the_number_that_was_sent(void **state)
{
    (void)state;
    expect_bad("{'id':1e400,'inputs':[]}", ERROR_INVALID_FIELD, "id is 1e400; expected a string");
    expect_bad("{'inputs':5.50}", ERROR_INVALID_FIELD, "inputs is 5.50; expected");
    expect_bad("{'inputs':[-0.0]}", ERROR_INVALID_FIELD, "inputs[0] is -0.0; expected an object");
    expect_bad("1E+2", ERROR_INVALID_FIELD, "the JSON text is 1E+2; expected an object");
}

static void it_is_said_which_member_is_meant(void **state)
{
    (void)state;
    expect_bad("{'inputs':[{'name':'tensor','data':[1]},{'data':[1]}]}", ERROR_INVALID_FIELD,
               "inputs[1] has no name");
    expect_bad("{'inputs':[{'name':'tensor','data':[1]},{'name':3}]}", ERROR_INVALID_FIELD,
               "name of inputs[1] is 3; expected a string");
    expect_bad("{'inputs':[],'outputs':[{}]}", ERROR_INVALID_FIELD, "outputs[0] has no name");
    expect_bad("{'inputs':[],'outputs':['output']}", ERROR_INVALID_FIELD,
               "outputs[0] is \"output\"; expected an object");
}

static void outputs_choose_the_encoding(void **state)
{
    static const struct {
        const char *json;
        enum encoding accepted, answer;
    } rows[] = {
        {"'outputs':[]", ENCODING_COUNT, ENCODING_JSON},
        {"'outputs':[{'name':'output'}]", ENCODING_COUNT, ENCODING_JSON},
        {"'outputs':[{'name':'output'}]", ENCODING_BINARY, ENCODING_BINARY},
        {"'outputs':[{'name':'output'}]", ENCODING_SAFETENSORS, ENCODING_SAFETENSORS},
        {"'outputs':[{'name':'output','parameters':{'binary_data':true}}]", ENCODING_COUNT,
         ENCODING_BINARY},
        {"'outputs':[{'name':'output','parameters':{'binary_data':false}}],"
         "'parameters':{'binary_data_output':true}",
         ENCODING_BINARY, ENCODING_JSON},
        {"'outputs':[{'name':'output'}],'parameters':{'binary_data_output':true}", ENCODING_COUNT,
         ENCODING_BINARY},
        {"'parameters':{'binary_data_output':false}", ENCODING_SAFETENSORS, ENCODING_JSON},
    };
    char json[1024];
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(json, sizeof(json), WITH("%s"), rows[i].json);
        f.head.accepted = rows[i].accepted;
        expect_good(json);
        assert_int_equal(f.request.answer, rows[i].answer);
    }
}

static void outputs_that_are_wrong(void **state)
{
    (void)state;
    expect_bad(WITH("'outputs':5"), ERROR_INVALID_FIELD, "outputs is 5; expected an array");
    expect_bad(WITH("'outputs':[5]"), ERROR_INVALID_FIELD, "outputs[0] is 5; expected an object");
    expect_bad(WITH("'outputs':[{}]"), ERROR_INVALID_FIELD, "no name");
    expect_bad(WITH("'outputs':[{'name':true}]"), ERROR_INVALID_FIELD, "true");
    expect_bad(WITH("'outputs':[{'name':'result'}]"), ERROR_UNKNOWN_OUTPUT,
               "no output \"result\"; its only one is \"output\"");
    expect_bad(WITH("'outputs':[{'name':'output'},{'name':'output'}]"), ERROR_INVALID_FIELD,
               "more than once");
    expect_bad(WITH("'outputs':[{'name':'output','parameters':{'binary_data':1}}]"),
               ERROR_INVALID_PARAMETER, "binary_data of an output is 1; expected true or false");
    expect_bad(WITH("'outputs':[{'name':'output','parameters':{'classification':2}}]"),
               ERROR_INVALID_PARAMETER, "classification");
    expect_bad(WITH("'outputs':[{'name':'output','parameters':{'shared_memory_region':5}}]"),
               ERROR_INVALID_FIELD, "shared_memory_region");
}

static void parameters_are_checked_before_inputs(void **state)
{
    (void)state;
    expect_bad("{'inputs':[{'name':'nope'}],'parameters':{'timeout':-1}}", ERROR_INVALID_PARAMETER,
               "timeout");
}

static size_t gzip(const char *text, char *out, size_t capacity)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)strlen(text);
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)capacity;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

static void a_compressed_body(void **state)
{
    char packed[512], *text = quote("{" INPUTS "}");
    size_t size = gzip(text, packed, sizeof(packed));
    (void)state;
    f.head.coding = CODING_GZIP;
    assert_int_equal(infer_decode(&f, "tensor_scatter_add", packed, size), ERROR_NONE);
    expect_tensor(0, DTYPE_FP32, "[4]");
    f.rules.body_limit = strlen(text) - 1;
    assert_int_equal(infer_decode(&f, "tensor_scatter_add", packed, size), ERROR_PAYLOAD_TOO_LARGE);
    free(text);
}

static void every_lack_of_memory_is_an_error(void **state)
{
    static const char json[] = "{'id':'r','parameters':{'device':'cpu'},'outputs':[{'name':"
                               "'output'}]," INPUTS "}";
    (void)state;
    expect_good(json);
    size_t gets = f.memory.gets;
    assert_true(gets >= 4);
    for (size_t n = 1; n <= gets; n++) {
        f.memory.fail_at = n;
        expect_bad(json, ERROR_RESOURCE_EXHAUSTED, "");
    }
    f.memory.fail_at = 0;
    expect_good(json);
}

/* The tree of a large envelope lies in several pieces of memory, each of which may be missing. */
static void every_lack_of_memory_for_a_large_envelope_is_an_error(void **state)
{
    enum { ELEMENTS = 1000 };
    char json[4096] = "{'extra':[0";
    size_t end = strlen(json);
    for (int i = 0; i < ELEMENTS; i++, end += 2)
        memcpy(json + end, ",1", 3);
    strcpy(json + end, "]," INPUTS "}");
    (void)state;
    size_t before = f.memory.gets;
    expect_good(json);
    size_t gets = f.memory.gets;
    assert_true(gets >= before + 8);
    for (size_t n = 1; n <= gets; n++) {
        f.memory.fail_at = n;
        expect_bad(json, ERROR_RESOURCE_EXHAUSTED, "");
    }
    f.memory.fail_at = 0;
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_request_of_the_python_client),
        TEST(keys_in_any_order_and_unknown_ones),
        TEST(null_members_are_absent),
        TEST(an_empty_id_is_none),
        TEST(an_id_is_decoded_and_bounded),
        TEST(the_short_form),
        TEST(a_missing_type_is_that_of_the_other_value),
        TEST(aliases_of_the_first_tensor),
        TEST(inputs_that_are_wrong),
        TEST(types_and_shapes_that_are_wrong),
        TEST(elements_in_the_order_of_the_inputs),
        TEST(json_and_binary_inputs_mix),
        TEST(a_header_as_long_as_the_body),
        TEST(sizes_that_do_not_fit_the_body),
        TEST(without_a_length_a_binary_tensor_is_empty),
        TEST(a_header_longer_than_the_body),
        TEST(a_tensor_that_is_not_aligned_is_moved),
        TEST(every_value_has_writable_room_in_front),
        TEST(limits_are_named_with_their_settings),
        TEST(json_that_is_none),
        TEST(a_number_is_as_long_as_it_likes),
        TEST(a_nul_in_a_string_is_a_letter),
        TEST(an_integer_of_a_named_type_is_rounded),
        TEST(a_dimension_is_an_integer_in_the_text),
        TEST(a_sentence_shows_the_number_that_was_sent),
        TEST(it_is_said_which_member_is_meant),
        TEST(outputs_choose_the_encoding),
        TEST(outputs_that_are_wrong),
        TEST(parameters_are_checked_before_inputs),
        TEST(a_compressed_body),
        TEST(every_lack_of_memory_is_an_error),
        TEST(every_lack_of_memory_for_a_large_envelope_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
