/* Each error that a request can earn: status, code, and a sentence that names the field and the
 * value. */
#include "tests/support/http/fixture.h"

#include <string.h>

struct row {
    const char *op, *json;
    int status;
    const char *code;
    const char *part; /* of the sentence */
};

#define INDICES "{'name':'indices','datatype':'INT32','shape':[2,1],'data':[1,3]}"
#define UPDATES "{'name':'updates','datatype':'FP32','shape':[2],'data':[5,6]}"
#define TENSOR  "{'name':'tensor','datatype':'FP32','shape':[4],'data':[1,2,3,4]}"
#define ADD(TENSOR_, INDICES_, UPDATES_, MORE)                                                     \
    "tensor_scatter_add", "{'inputs':[" TENSOR_ "," INDICES_ "," UPDATES_ "]" MORE "}"
#define BRIEF(TENSOR_, INDICES_, UPDATES_, MORE)                                                   \
    "tensor_scatter_add",                                                                          \
        "{'inputs':{'tensor':" TENSOR_ ",'indices':" INDICES_ ",'updates':" UPDATES_ "}" MORE "}"

static void check_rows(struct fixture *f, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct answer a = fixture_json(f, rows[i].op, rows[i].json);

        expect_error(&a, rows[i].status, rows[i].code, rows[i].part);
        expect_header(&a, "Connection", NULL);
        answer_release(&a);
    }
    fixture_check_alive(f);
}

#define CHECK_ROWS(STATE, ROWS) check_rows(*(STATE), ROWS, sizeof(ROWS) / sizeof(ROWS[0]))

static void text_that_is_not_json(void **state)
{
    static const struct row rows[] = {
        {"scatter_nd", "", 400, "INVALID_JSON", "the body is empty; expected"},
        {"scatter_nd", "x", 400, "INVALID_JSON", "not JSON, it begins with "},
        {"scatter_nd", "a=1&b=2", 400, "INVALID_JSON", "looks like a URL-encoded form"},
        {"scatter_nd", "<html></html>", 400, "INVALID_JSON", "looks like HTML or XML"},
        {"scatter_nd", "{'inputs':[]", 400, "INVALID_JSON", "ends at byte 12"},
        {"scatter_nd", "{'inputs':[]} x", 400, "INVALID_JSON", "byte 14 of"},
        {"scatter_nd", "{'id':'a','id':'b','inputs':[]}", 400, "INVALID_JSON", "byte 10 of"},
        {"scatter_nd", "{'id':'\xff','inputs':[]}", 400, "INVALID_JSON", "byte 7 of"},
        {BRIEF("[1,02]", "[[0]]", "[1]", ""), 400, "INVALID_JSON", "byte 23 of"},
        {BRIEF("[1,2,]", "[[0]]", "[1]", ""), 400, "INVALID_JSON", "byte 25 of"},
        {BRIEF("[1,+2]", "[[0]]", "[1]", ""), 400, "INVALID_JSON", "byte 23 of"},
        {BRIEF("[1,.5]", "[[0]]", "[1]", ""), 400, "INVALID_JSON", "byte 23 of"},
        {BRIEF("[1,5.]", "[[0]]", "[1]", ""), 400, "INVALID_JSON", "byte 23 of"},
        {BRIEF("[1 2]", "[[0]]", "[1]", ""), 400, "INVALID_JSON", "byte 23 of"},
        {BRIEF("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", "[[0]]",
               "[1]", ""),
         400, "INVALID_JSON", "at most 32 "},
    };

    CHECK_ROWS(state, rows);
}

static void fields_of_the_wrong_kind(void **state)
{
    static const struct row rows[] = {
        {"scatter_nd", "[]", 400, "INVALID_FIELD", "is an array"},
        {"scatter_nd", "{}", 400, "INVALID_FIELD", "has no inputs"},
        {"scatter_nd", "{'inputs':5}", 400, "INVALID_FIELD", "inputs is 5"},
        {"scatter_nd", "{'inputs':[5]}", 400, "INVALID_FIELD",
         "inputs[0] is 5; expected an object"},
        {"scatter_nd", "{'inputs':[{'datatype':'FP32','shape':[1],'data':[1]}]}", 400,
         "INVALID_FIELD", "has no name"},
        {ADD(TENSOR, INDICES, UPDATES, ",'id':5"), 400, "INVALID_FIELD", "id is 5"},
        {ADD(TENSOR, INDICES, UPDATES, ",'outputs':5"), 400, "INVALID_FIELD", "outputs is 5"},
        {ADD(TENSOR, INDICES, UPDATES, ",'parameters':5"), 400, "INVALID_FIELD", "parameters is 5"},
        {ADD("{'name':'tensor','datatype':'FP32','shape':4,'data':[1,2,3,4]}", INDICES, UPDATES,
             ""),
         400, "INVALID_FIELD", "shape of tensor is 4"},
        {ADD("{'name':'tensor','datatype':'FP32','shape':[-1],'data':[1,2,3,4]}", INDICES, UPDATES,
             ""),
         400, "INVALID_FIELD", "shape[0] of tensor is -1"},
        {ADD("{'name':'tensor','datatype':'FP32','shape':[1.5],'data':[1,2,3,4]}", INDICES, UPDATES,
             ""),
         400, "INVALID_FIELD", "shape[0] of tensor is 1.5"},
        {ADD("{'name':'tensor','datatype':'FP32','shape':[1]}", INDICES, UPDATES, ""), 400,
         "INVALID_FIELD", "tensor has neither data"},
        {ADD("{'name':'tensor','datatype':'FP32','shape':[4],'data':[1,2,null,4]}", INDICES,
             UPDATES, ""),
         400, "INVALID_FIELD", "tensor[2] is null"},
        {ADD("{'name':'tensor','datatype':'FP32','shape':[4],'data':[1,2,true,4]}", INDICES,
             UPDATES, ""),
         400, "INVALID_FIELD", "tensor[2] is true"},
    };

    CHECK_ROWS(state, rows);
}

static void inputs_and_outputs_by_name(void **state)
{
    static const struct row rows[] = {
        {"tensor_scatter_add", "{'inputs':[" TENSOR "," INDICES "]}", 400, "MISSING_INPUT",
         "needs the input updates"},
        {"tensor_scatter_add", "{'inputs':[]}", 400, "MISSING_INPUT", "needs the input tensor"},
        {"sparse_segment_sum_with_num_segments",
         "{'inputs':{'data':[[1]],'indices':[0],'segment_ids':[0]}}", 400, "MISSING_INPUT",
         "needs the input num_segments"},
        {ADD(TENSOR, INDICES,
             UPDATES ",{'name':'weights','datatype':'FP32','shape':[1],'data':[1]}", ""),
         400, "UNKNOWN_INPUT", "weights"},
        {ADD(TENSOR, INDICES, UPDATES "," UPDATES, ""), 400, "DUPLICATE_INPUT", "updates"},
        {ADD(TENSOR, INDICES,
             UPDATES ",{'name':'input_x','datatype':'FP32','shape':[4],'data':[1,2,3,4]}", ""),
         400, "DUPLICATE_INPUT", "tensor"},
        {ADD(TENSOR, INDICES, UPDATES, ",'outputs':[{'name':'result'}]"), 400, "UNKNOWN_OUTPUT",
         "result"},
    };

    CHECK_ROWS(state, rows);
}

static void shapes_and_sizes(void **state)
{
    static const struct row rows[] = {
        {ADD(TENSOR, "{'name':'indices','datatype':'INT32','shape':[2],'data':[1,3]}", UPDATES, ""),
         400, "SHAPE_MISMATCH", "[[1],[3]]"},
        {ADD(TENSOR, INDICES, "{'name':'updates','datatype':'FP32','shape':[3],'data':[1,2,3]}",
             ""),
         400, "SHAPE_MISMATCH", "updates has shape [3]"},
        {ADD("{'name':'tensor','datatype':'FP32','shape':[4],'data':[[1,2],[3,4]]}", INDICES,
             UPDATES, ""),
         400, "SHAPE_MISMATCH", "tensor[0] is a list (byte"},
        {ADD("{'name':'tensor','datatype':'FP32','shape':[5],'data':[1,2,3,4]}", INDICES, UPDATES,
             ""),
         400, "SIZE_MISMATCH", "its shape [5] needs 5"},
        {ADD("{'name':'tensor','datatype':'FP32','shape':[3],'data':[1,2,3,4]}", INDICES, UPDATES,
             ""),
         400, "SIZE_MISMATCH", "its shape [3] needs 3"},
        {ADD("{'name':'tensor','datatype':'FP32','shape':[4294967296,4294967296],'data':[1]}",
             INDICES, UPDATES, ""),
         400, "SIZE_MISMATCH", "more elements than fit"},
        {BRIEF("[1,2]", "[]", "[]", ""), 400, "SHAPE_MISMATCH",
         "indices is [], which does not say how many coordinates a row has; no rows are written as "
         "{\\'shape\\': [0, 1], \\'data\\': []}"},
        {"gather_nd", "{'inputs':{'params':[5,6],'indices':[]}}", 400, "SHAPE_MISMATCH",
         "indices is []"},
        {"scatter_nd",
         "{'inputs':{'indices':[[0,0]],'updates':[1],'shape':[9223372036854775807,2]}}", 413,
         "OUTPUT_TOO_LARGE", "9223372036854775807"},
        {"scatter_nd", "{'inputs':{'indices':[[0]],'updates':[1],'shape':[-4]}}", 400,
         "VALUE_OUT_OF_RANGE", "shape[0] is -4"},
        {ADD("{'name':'tensor','datatype':'FP32',"
             "'shape':[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],'data':[1]}",
             INDICES, UPDATES, ""),
         400, "SHAPE_MISMATCH", "at most 16 "},
    };

    CHECK_ROWS(state, rows);
}

static void element_types(void **state)
{
    static const struct row rows[] = {
        {ADD(TENSOR, INDICES, "{'name':'updates','datatype':'INT32','shape':[2],'data':[5,6]}", ""),
         400, "UNSUPPORTED_DTYPE", "updates is INT32"},
        {ADD("{'name':'tensor','datatype':'BOOL','shape':[2],'data':[true,false]}", INDICES,
             "{'name':'updates','datatype':'BOOL','shape':[2],'data':[true,true]}", ""),
         400, "UNSUPPORTED_DTYPE", "tensor is BOOL"},
        {ADD(TENSOR, "{'name':'indices','datatype':'FP32','shape':[2,1],'data':[1,3]}", UPDATES,
             ""),
         400, "UNSUPPORTED_DTYPE", "indices is FP32"},
        {ADD("{'name':'tensor','datatype':'FLOAT','shape':[4],'data':[1,2,3,4]}", INDICES, UPDATES,
             ""),
         400, "UNSUPPORTED_DTYPE", "datatype of tensor"},
        {ADD("{'name':'tensor','shape':[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],'data':[1]}",
             "{'name':'indices','datatype':'FLOAT','data':[[0]]}", UPDATES, ""),
         400, "UNSUPPORTED_DTYPE", "datatype of indices"}, /* before the shape */
        {"sparse_segment_mean",
         "{'inputs':[{'name':'data','datatype':'INT32','shape':[1,1],'data':[1]},"
         "{'name':'indices','datatype':'INT32','shape':[1],'data':[0]},"
         "{'name':'segment_ids','datatype':'INT32','shape':[1],'data':[0]}]}",
         400, "UNSUPPORTED_DTYPE", "data is INT32"},
    };

    CHECK_ROWS(state, rows);
}

static void numbers_out_of_range(void **state)
{
    static const struct row rows[] = {
        {ADD("{'name':'tensor','datatype':'UINT8','shape':[4],'data':[1,2,256,4]}", INDICES,
             "{'name':'updates','datatype':'UINT8','shape':[2],'data':[5,6]}", ""),
         400, "VALUE_OUT_OF_RANGE", "tensor[2] = 256"},
        {ADD("{'name':'tensor','datatype':'INT8','shape':[2,2],'data':[[1,2],[3,-129]]}", INDICES,
             "{'name':'updates','datatype':'INT8','shape':[2,2],'data':[5,6,7,8]}", ""),
         400, "VALUE_OUT_OF_RANGE", "tensor[1, 1] = -129"},
        {ADD("{'name':'tensor','datatype':'INT64','shape':[4],'data':[1,2,9223372036854775808,4]}",
             INDICES, "{'name':'updates','datatype':'INT64','shape':[2],'data':[5,6]}", ""),
         400, "VALUE_OUT_OF_RANGE", "tensor[2] = 9223372036854775808"},
        {ADD("{'name':'tensor','datatype':'UINT64','shape':[4],'data':[1,2,-1,4]}", INDICES,
             "{'name':'updates','datatype':'UINT64','shape':[2],'data':[5,6]}", ""),
         400, "VALUE_OUT_OF_RANGE", "tensor[2] = -1 "},
        {ADD("{'name':'tensor','datatype':'INT32','shape':[4],'data':[1,2,1.5,4]}", INDICES,
             "{'name':'updates','datatype':'INT32','shape':[2],'data':[5,6]}", ""),
         400, "VALUE_OUT_OF_RANGE", "tensor[2] = 1.5 "},
        {ADD("{'name':'tensor','datatype':'FP32','shape':[4],'data':[1,2,1e39,4]}", INDICES,
             UPDATES, ""),
         400, "VALUE_OUT_OF_RANGE", "tensor[2] = 1e39"},
        {"gather_nd", "{'inputs':{'params':[123456789,16777217],'indices':[[0],[1]]}}", 400,
         "VALUE_OUT_OF_RANGE",
         "params[0] = 123456789 is not exact in FP32; it is FP32 because it has no datatype"},
        {BRIEF("[1]", "[[0]]", "[16777217]", ""), 400, "VALUE_OUT_OF_RANGE",
         "updates[0] = 16777217 is not exact in FP32"},
        {ADD("{'name':'tensor','datatype':'FP16','shape':[4],'data':[1,2,65520,4]}", INDICES,
             "{'name':'updates','datatype':'FP16','shape':[2],'data':[5,6]}", ""),
         400, "VALUE_OUT_OF_RANGE", "tensor[2] = 65520"},
        {BRIEF("[3e38]", "[[0]]", "[3e38]", ""), 400, "NONFINITE_IN_JSON", "binary"},
    };

    CHECK_ROWS(state, rows);
}

static void bad_indices_are_named_by_position(void **state)
{
    static const struct row rows[] = {
        {BRIEF("[1,2,3,4]", "[[0],[7]]", "[1,1]", ""), 400, "INDEX_OUT_OF_BOUNDS",
         "indices[1] = [7] is out of bounds for shape [4] of tensor (axis 0: 7 is not in [0, 4))"},
        {BRIEF("[1,2,3,4]", "[[-1],[7]]", "[1,1]", ""), 400, "INDEX_OUT_OF_BOUNDS",
         "indices[0] = [-1] is out of bounds for shape [4] of tensor (axis 0: -1 is not in [0, "
         "4))"},
        {BRIEF("[[1,2,3],[4,5,6]]", "[[[0,0],[1,2]],[[1,1],[1,3]]]", "[[1,1],[1,1]]", ""), 400,
         "INDEX_OUT_OF_BOUNDS",
         "indices[1, 1] = [1, 3] is out of bounds for shape [2, 3] of tensor (axis 1: 3 is not in "
         "[0, 3))"},
        {BRIEF("[[1,2,3],[4,5,6]]", "[[2]]", "[[1,1,1]]", ""), 400, "INDEX_OUT_OF_BOUNDS",
         "indices[0] = [2] is out of bounds for shape [2, 3] of tensor (axis 0: 2 is not in [0, "
         "2))"},
        {"sparse_segment_mean", "{'inputs':{'data':[[1],[2]],'indices':[0,5],'segment_ids':[0,0]}}",
         400, "INDEX_OUT_OF_BOUNDS", "indices[1] = 5 is out of bounds for shape [2, 1] of data"},
        {"sparse_segment_mean",
         "{'inputs':{'data':[[1],[2]],'indices':[0,1,0],'segment_ids':[0,1,0]}}", 400,
         "SEGMENT_IDS_NOT_SORTED", "segment_ids[2] = 0 is below segment_ids[1] = 1"},
        {"sparse_segment_mean",
         "{'inputs':{'data':[[1],[2]],'indices':[0,1],'segment_ids':[-1,0]}}", 400,
         "SEGMENT_ID_OUT_OF_RANGE", "segment_ids[0] = -1"},
        {"sparse_segment_mean",
         "{'inputs':{'data':[[1],[2]],'indices':[0,1],'segment_ids':[0,3],'num_segments':3}}", 400,
         "SEGMENT_ID_OUT_OF_RANGE", "segment_ids[1] = 3 must be < num_segments = 3"},
        {"sparse_segment_mean",
         "{'inputs':{'data':[[1],[2]],'indices':[0,1],'segment_ids':[0,9007199254740992]}}", 413,
         "OUTPUT_TOO_LARGE", "output of shape [9007199254740993, 1]"},
    };

    CHECK_ROWS(state, rows);
}

static void parameters_that_are_refused(void **state)
{
    static const struct row rows[] = {
        {ADD(TENSOR, INDICES, UPDATES, ",'parameters':{'bad_indices_policy':'ignore'}"), 400,
         "INVALID_PARAMETER", "ignore"},
        {ADD(TENSOR, INDICES, UPDATES, ",'parameters':{'bad_indices_policy':5}"), 400,
         "INVALID_PARAMETER", "bad_indices_policy"},
        {ADD(TENSOR, INDICES, UPDATES, ",'parameters':{'device':'tpu'}"), 400, "INVALID_PARAMETER",
         "tpu"},
        {ADD(TENSOR, INDICES, UPDATES, ",'parameters':{'timeout':-1}"), 400, "INVALID_PARAMETER",
         "timeout"},
        {ADD(TENSOR, INDICES, UPDATES, ",'parameters':{'json_nonfinite':'zero'}"), 400,
         "INVALID_PARAMETER", "zero"},
        {ADD(TENSOR, INDICES, UPDATES, ",'parameters':{'binary_data_output':'yes'}"), 400,
         "INVALID_PARAMETER", "binary_data_output"},
        {ADD(TENSOR, INDICES, UPDATES,
             ",'outputs':[{'name':'output','parameters':{'classification':3}}]"),
         400, "INVALID_PARAMETER", "classification"},
        {ADD(TENSOR, INDICES, UPDATES,
             ",'outputs':[{'name':'output','parameters':{'shared_memory_offset':4}}]"),
         400, "INVALID_PARAMETER", "shared_memory"},
    };

    CHECK_ROWS(state, rows);
}

static void models_that_do_not_exist(void **state)
{
    static const struct row rows[] = {
        {"no_such_op", "{'inputs':[]}", 404, "MODEL_NOT_FOUND", "no_such_op"},
        {"scatter_nd/versions/2", "{'inputs':[]}", 404, "MODEL_NOT_FOUND", "only version 1"},
        {"Scatter_Nd", "{'inputs':[]}", 404, "MODEL_NOT_FOUND", "Scatter_Nd"},
    };

    CHECK_ROWS(state, rows);
}

static void a_problem_document_has_every_member(void **state)
{
    static const char json[] =
        "{\"inputs\":{\"tensor\":[1,2,3,4],\"indices\":[[0],[7],[-9007199254740993]],"
        "\"updates\":[1,1,1]}}";
    static const char *const parts[] = {
        "'status':400",
        "'code':'INDEX_OUT_OF_BOUNDS'",
        "'error':'INDEX_OUT_OF_BOUNDS: indices[1] = [7]",
        "'detail':'indices[1] = [7] is out of bounds",
        "'instance':'",
        "'type':'",
        "'title':'",
        "'invalid_count':2",
        "'errors':[{'input':'indices','position':[1],'axis':0,'value':7,'index':[7],'bound':[4]},"
        "{'input':'indices','position':[2],'axis':0,'value':'-9007199254740993',"
        "'index':['-9007199254740993'],'bound':[4]}]",
    };
    struct answer a =
        fixture_call(*state, &(struct call){.path = "/v2/models/tensor_scatter_add/infer",
                                            .headers = {"Accept: application/problem+json", NULL},
                                            .body = json,
                                            .size = strlen(json)});

    assert_int_equal(a.status, 400);
    expect_header(&a, "Content-Type", "application/problem+json");
    expect_header(&a, "Error-Code", "INDEX_OUT_OF_BOUNDS");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        expect_part(&a, parts[i]);
    answer_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_that_is_not_json),
        cmocka_unit_test(fields_of_the_wrong_kind),
        cmocka_unit_test(inputs_and_outputs_by_name),
        cmocka_unit_test(shapes_and_sizes),
        cmocka_unit_test(element_types),
        cmocka_unit_test(numbers_out_of_range),
        cmocka_unit_test(bad_indices_are_named_by_position),
        cmocka_unit_test(parameters_that_are_refused),
        cmocka_unit_test(models_that_do_not_exist),
        cmocka_unit_test(a_problem_document_has_every_member),
    };

    return cmocka_run_group_tests_name("errors", tests, fixture_start, fixture_stop);
}
