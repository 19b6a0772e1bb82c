/* What an answer looks like, and who decides between JSON and binary. */
#include "tests/support/http/fixture.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUTS                                                                                     \
    "'inputs':[{'name':'tensor','datatype':'FP32','shape':[2],'data':[1,2]},"                      \
    "{'name':'indices','datatype':'INT32','shape':[1,1],'data':[1]},"                              \
    "{'name':'updates','datatype':'FP32','shape':[1],'data':[5]}]"
#define HEAD    "{'model_name':'tensor_scatter_add','model_version':'1',"
#define IN_JSON HEAD "'outputs':[{'name':'output','datatype':'FP32','shape':[2],'data':[1.0,7.0]}]}"
#define IN_BINARY                                                                                  \
    HEAD "'outputs':[{'name':'output','datatype':'FP32','shape':[2],"                              \
         "'parameters':{'binary_data_size':8}}]}"

static const float result[] = {1, 7};

static struct answer infer(void **state, const char *json, const char *accept)
{
    char *text = quote(json);
    struct answer a =
        fixture_call(*state, &(struct call){.path = "/v2/models/tensor_scatter_add/infer",
                                            .headers = {accept},
                                            .body = text,
                                            .size = strlen(text)});

    free(text);
    return a;
}

static void the_id_is_echoed(void **state)
{
    struct answer a = fixture_json(*state, "tensor_scatter_add", "{'id':'r-1'," INPUTS "}");

    expect_json(&a, "{'model_name':'tensor_scatter_add','model_version':'1','id':'r-1','outputs':"
                    "[{'name':'output','datatype':'FP32','shape':[2],'data':[1.0,7.0]}]}");
    answer_release(&a);
}

static void an_id_with_escapes_comes_back_the_same(void **state)
{
    struct answer a =
        fixture_json(*state, "tensor_scatter_add",
                     "{'id':'q\\u0022 b\\\\ n\\n \\u00e9 \\ud83d\\ude00 \xc3\xa9'," INPUTS "}");

    assert_int_equal(a.status, 200);
    expect_part(&a, "'id':'q\\' b\\\\ n\\n \xc3\xa9 \xf0\x9f\x98\x80 \xc3\xa9'");
    answer_release(&a);
}

static void an_empty_id_is_absent(void **state)
{
    struct answer a = fixture_json(*state, "tensor_scatter_add", "{'id':''," INPUTS "}");

    expect_json(&a, IN_JSON);
    answer_release(&a);
}

static void an_id_longer_than_256_bytes_is_refused(void **state)
{
    char json[1024];
    struct answer a;

    for (int size = 256; size <= 257; size++) {
        snprintf(json, sizeof(json), "{'id':'%0*d'," INPUTS "}", size, 0);
        a = fixture_json(*state, "tensor_scatter_add", json);
        if (size == 256)
            assert_int_equal(a.status, 200);
        else
            expect_error(&a, 400, "INVALID_FIELD", "256");
        answer_release(&a);
    }
}

static void who_asks_for_binary_gets_it(void **state)
{
    static const struct {
        const char *json, *accept;
        bool binary;
    } rows[] = {
        {"{" INPUTS "}", NULL, false},
        {"{" INPUTS ",'outputs':[]}", NULL, false},
        {"{" INPUTS ",'outputs':[{'name':'output'}]}", NULL, false},
        {"{" INPUTS ",'outputs':[{'name':'output','parameters':{'binary_data':true}}]}", NULL,
         true},
        {"{" INPUTS ",'outputs':[{'name':'output','parameters':{'binary_data':false}}]}", NULL,
         false},
        {"{" INPUTS ",'parameters':{'binary_data_output':true}}", NULL, true},
        {"{" INPUTS ",'parameters':{'binary_data_output':true},'outputs':[{'name':'output'}]}",
         NULL, true},
        {"{" INPUTS ",'parameters':{'binary_data_output':true},"
         "'outputs':[{'name':'output','parameters':{'binary_data':false}}]}",
         NULL, false},
        {"{" INPUTS "}", "Accept: application/octet-stream", true},
        {"{" INPUTS "}", "Accept: application/json", false},
        {"{" INPUTS "}", "Accept: */*", false},
        {"{" INPUTS "}", "Accept: text/html, application/octet-stream;q=0.9, application/json",
         true},
        {"{" INPUTS "}", "Accept: application/json, application/octet-stream", false},
        {"{" INPUTS ",'parameters':{'binary_data_output':false}}",
         "Accept: application/octet-stream", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer a = infer(state, rows[i].json, rows[i].accept);

        if (rows[i].binary)
            expect_binary(&a, IN_BINARY, result, sizeof(result));
        else
            expect_json(&a, IN_JSON);
        answer_release(&a);
    }
}

static void an_empty_result_in_binary_still_has_its_length_header(void **state)
{
    struct answer a =
        fixture_json(*state, "scatter_nd",
                     "{'inputs':[{'name':'indices','datatype':'INT32','shape':[0,1],'data':[]},"
                     "{'name':'updates','datatype':'FP32','shape':[0],'data':[]},"
                     "{'name':'shape','datatype':'INT32','shape':[1],'data':[0]}],"
                     "'parameters':{'binary_data_output':true}}");
    char length[32];

    expect_binary(&a,
                  "{'model_name':'scatter_nd','model_version':'1','outputs':[{'name':'output',"
                  "'datatype':'FP32','shape':[0],'parameters':{'binary_data_size':0}}]}",
                  "", 0);
    snprintf(length, sizeof(length), "%zu", a.size);
    expect_header(&a, "Inference-Header-Content-Length", length);
    answer_release(&a);
}

static void floats_are_the_shortest_that_read_back(void **state)
{
    struct answer a = fixture_json(
        *state, "tensor_scatter_update",
        "{'inputs':{'tensor':[0.1,1e10,16777216,3.4028235e38,1e-45,-0.0,1234567.9,0.3],"
        "'indices':[[7]],'updates':[0.30000001192092896]}}");

    assert_int_equal(a.status, 200);
    expect_part(&a, "'data':[0.1,1e+10,16777216.0,3.4028235e+38,1e-45,-0.0,1234567.9,0.3]");
    answer_release(&a);
}

static void integers_of_64_bits_are_exact(void **state)
{
    struct answer a =
        fixture_json(*state, "tensor_scatter_add",
                     "{'inputs':[{'name':'tensor','datatype':'INT64','shape':[3],"
                     "'data':[9223372036854775807,-9223372036854775808,9007199254740993]},"
                     "{'name':'indices','datatype':'INT64','shape':[1,1],'data':[0]},"
                     "{'name':'updates','datatype':'INT64','shape':[1],'data':[1]}]}");

    assert_int_equal(a.status, 200);
    expect_part(&a, "'data':[-9223372036854775808,-9223372036854775808,9007199254740993]");
    answer_release(&a);
    a = fixture_json(*state, "scatter_nd",
                     "{'inputs':[{'name':'indices','datatype':'INT32','shape':[1,1],'data':[0]},"
                     "{'name':'updates','datatype':'UINT64','shape':[1],"
                     "'data':[18446744073709551615]},"
                     "{'name':'shape','datatype':'INT32','shape':[1],'data':[1]}]}");
    assert_int_equal(a.status, 200);
    expect_part(&a, "'data':[18446744073709551615]");
    answer_release(&a);
}

#define OVERFLOW "'inputs':{'tensor':[3e38,-3e38,1],'indices':[[0],[1]],'updates':[3e38,-3e38]}"

static void json_nonfinite_says_what_to_do(void **state)
{
    static const struct {
        const char *parameters, *data; /* NULL: refused */
    } rows[] = {
        {"", NULL},
        {",'parameters':{'json_nonfinite':'error'}", NULL},
        {",'parameters':{'json_nonfinite':'token'}", "[Infinity,-Infinity,1.0]"},
        {",'parameters':{'json_nonfinite':'string'}", "['Infinity','-Infinity',1.0]"},
        {",'parameters':{'json_nonfinite':'null'}", "[null,null,1.0]"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char json[512];
        struct answer a;

        snprintf(json, sizeof(json), "{" OVERFLOW "%s}", rows[i].parameters);
        a = fixture_json(*state, "tensor_scatter_add", json);
        if (rows[i].data == NULL) {
            expect_error(&a, 400, "NONFINITE_IN_JSON", "json_nonfinite");
        } else {
            assert_int_equal(a.status, 200);
            expect_part(&a, rows[i].data);
        }
        answer_release(&a);
    }
}

static void bare_tokens_are_answered_with_bare_tokens(void **state)
{
    struct answer a = fixture_json(
        *state, "tensor_scatter_update",
        "{'inputs':{'tensor':[NaN,Infinity,-Infinity,1],'indices':[[3]],'updates':[2]}}");

    assert_int_equal(a.status, 200);
    expect_part(&a, "'data':[NaN,Infinity,-Infinity,2.0]");
    answer_release(&a);
    a = fixture_json(*state, "tensor_scatter_update",
                     "{'inputs':{'tensor':['NaN','Infinity','-Infinity',1],'indices':[[3]],"
                     "'updates':[2]}}");
    expect_error(&a, 400, "NONFINITE_IN_JSON", "");
    answer_release(&a);
}

static void ignored_rows_are_counted(void **state)
{
    struct answer a = fixture_json(*state, "tensor_scatter_add",
                                   "{'inputs':{'tensor':[1,2],'indices':[[1],[9],[-1]],"
                                   "'updates':[5,6,7]},"
                                   "'parameters':{'bad_indices_policy':'IGNORE'}}");

    expect_json(&a, HEAD "'parameters':{'ignored_indices':2},'outputs':[{'name':'output',"
                         "'datatype':'FP32','shape':[2],'data':[1.0,7.0]}]}");
    answer_release(&a);
}

static void bytes_that_are_not_utf8_need_binary(void **state)
{
    static const char strings[] = "\x02\0\0\0ab\x01\0\0\0\xff";
    const int32_t index = 0;
    const struct part parts[] = {
        {"tensor", "BYTES", "[2]", strings, sizeof(strings) - 1},
        {"indices", "INT32", "[1,1]", &index, sizeof(index)},
        {"updates", "BYTES", "[1]", "\x03\0\0\0xyz", 7},
    };
    struct fixture *f = *state;
    struct body body;
    struct answer a;

    assert_true(body_binary(&body, parts, 3, ""));
    assert_true(client_binary(&f->client, "tensor_scatter_update", &body, &a));
    expect_error(&a, 400, "NOT_UTF8", "binary");
    answer_release(&a);
    body_release(&body);
    assert_true(body_binary(&body, parts, 3, ",'parameters':{'binary_data_output':true}"));
    assert_true(client_binary(&f->client, "tensor_scatter_update", &body, &a));
    expect_binary(&a,
                  "{'model_name':'tensor_scatter_update','model_version':'1','outputs':["
                  "{'name':'output','datatype':'BYTES','shape':[2],"
                  "'parameters':{'binary_data_size':12}}]}",
                  "\x03\0\0\0xyz\x01\0\0\0\xff", 12);
    answer_release(&a);
    body_release(&body);
}

static void server_timing_has_the_three_parts(void **state)
{
    struct answer a = fixture_json(*state, "tensor_scatter_add", "{" INPUTS "}");
    const char *timing = answer_header(&a, "Server-Timing");
    regex_t pattern;

    assert_non_null(timing);
    assert_int_equal(regcomp(&pattern,
                             "^parse;dur=[0-9]+\\.[0-9]{3}, queue;dur=[0-9]+\\.[0-9]{3}, "
                             "compute;dur=[0-9]+\\.[0-9]{3}$",
                             REG_EXTENDED | REG_NOSUB),
                     0);
    assert_int_equal(regexec(&pattern, timing, 0, NULL, 0), 0);
    regfree(&pattern);
    answer_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_id_is_echoed),
        cmocka_unit_test(an_id_with_escapes_comes_back_the_same),
        cmocka_unit_test(an_empty_id_is_absent),
        cmocka_unit_test(an_id_longer_than_256_bytes_is_refused),
        cmocka_unit_test(who_asks_for_binary_gets_it),
        cmocka_unit_test(an_empty_result_in_binary_still_has_its_length_header),
        cmocka_unit_test(floats_are_the_shortest_that_read_back),
        cmocka_unit_test(integers_of_64_bits_are_exact),
        cmocka_unit_test(json_nonfinite_says_what_to_do),
        cmocka_unit_test(bare_tokens_are_answered_with_bare_tokens),
        cmocka_unit_test(ignored_rows_are_counted),
        cmocka_unit_test(bytes_that_are_not_utf8_need_binary),
        cmocka_unit_test(server_timing_has_the_three_parts),
    };

    return cmocka_run_group_tests_name("answers", tests, fixture_start, fixture_stop);
}
