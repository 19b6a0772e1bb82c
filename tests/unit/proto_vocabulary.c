/* vocabulary: keys and parameters that were meant as others are told; unknown ones are ignored. */
#include "tests/support/proto/infer_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum error_code decode(const char *json)
{
    char *text = quote(json);
    enum error_code code = infer_decode(&f, "gather_nd", text, strlen(text));
    free(text);
    return code;
}

static void expect_good(const char *json)
{
    if (decode(json) != ERROR_NONE)
        fail_msg("%s: %s", json, f.error.message);
}

static void expect_bad(const char *json, enum error_code code, const char *sentence)
{
    if (decode(json) == ERROR_NONE)
        fail_msg("%s is taken", json);
    if (f.error.code != code || strcmp(f.error.message, sentence) != 0)
        fail_msg("%s: %s: %s; expected %s", json, error_name(f.error.code), f.error.message,
                 sentence);
}

/* Keys of an input, beside those that it needs. */
#define INPUT(keys) "{'inputs':{'params':{" keys "},'indices':[[0]]}}"

/* Of a whole request. */
#define REQUEST(keys) "{'inputs':{'params':[1],'indices':[[0]]}" keys "}"

static void another_word_for_a_key_is_told(void **state)
{
    static const char *const rows[][2] = {
        {"dtype", "datatype"},    {"type", "datatype"},    {"data_type", "datatype"},
        {"dataType", "datatype"}, {"datatyp", "datatype"}, {"dims", "shape"},
        {"shapes", "shape"},      {"Shape", "shape"},      {"shpae", "shape"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char json[256], sentence[256];
        snprintf(json, sizeof(json), INPUT("'%s':'FP64','data':[1]"), rows[i][0]);
        snprintf(sentence, sizeof(sentence), "params has no member \"%s\"; did you mean \"%s\"?",
                 rows[i][0], rows[i][1]);
        expect_bad(json, ERROR_INVALID_FIELD, sentence);
        snprintf(json, sizeof(json),
                 "{'inputs':[{'name':'indices','data':[[0]]},"
                 "{'name':'params','%s':null,'data':[1]}]}",
                 rows[i][0]);
        expect_good(json); /* clients write their unset fields so */
    }
    expect_bad(INPUT("'values':[1]"), ERROR_INVALID_FIELD,
               "params has no member \"values\"; did you mean \"data\"?");
    expect_bad(INPUT("'dat':[1]"), ERROR_INVALID_FIELD,
               "params has no member \"dat\"; did you mean \"data\"?");
    expect_bad("{'inputs':[{'nmae':'params','data':[1]}]}", ERROR_INVALID_FIELD,
               "inputs[0] has no member \"nmae\"; did you mean \"name\"?");
    expect_bad(INPUT("'datatype':null,'dtype':'FP64','data':[1]"), ERROR_INVALID_FIELD,
               "params has no member \"dtype\"; did you mean \"datatype\"?");
}

/* Where the key itself is there, no default steps in. */
static void another_word_beside_the_key_is_ignored(void **state)
{
    (void)state;
    expect_good(INPUT("'datatype':'FP64','dtype':'FP32','data':[1]"));
    expect_good(INPUT("'shape':[1],'dims':[7],'shap':5,'data':[1],'values':[1,2]"));
}

static void keys_of_other_levels_are_told(void **state)
{
    (void)state;
    expect_bad(REQUEST(",'paramters':{'timeout':5}"), ERROR_INVALID_FIELD,
               "the request has no member \"paramters\"; did you mean \"parameters\"?");
    expect_bad(REQUEST(",'params':{'timeout':5}"), ERROR_INVALID_FIELD,
               "the request has no member \"params\"; did you mean \"parameters\"?");
    expect_bad(REQUEST(",'output':[]"), ERROR_INVALID_FIELD,
               "the request has no member \"output\"; did you mean \"outputs\"?");
    expect_bad("{'input':[]}", ERROR_INVALID_FIELD,
               "the request has no member \"input\"; did you mean \"inputs\"?");
    expect_bad(REQUEST(",'outputs':[{'name':'output','parameter':{}}]"), ERROR_INVALID_FIELD,
               "outputs[0] has no member \"parameter\"; did you mean \"parameters\"?");
    expect_bad(REQUEST(",'outputs':[{'name':'output','parameters':{'binary_dat':true}}]"),
               ERROR_INVALID_PARAMETER,
               "parameters of the output has no member \"binary_dat\"; did you mean "
               "\"binary_data\"?");
    expect_bad(INPUT("'data':[1],'parameters':{'binary_data_sz':4}"), ERROR_INVALID_PARAMETER,
               "parameters of params has no member \"binary_data_sz\"; did you mean "
               "\"binary_data_size\"?");
}

static void a_mistyped_parameter_is_told(void **state)
{
    static const char *const rows[][2] = {
        {"bad_indices_polcy", "bad_indices_policy"},
        {"badIndicesPolicy", "bad_indices_policy"},
        {"devcie", "device"},
        {"time_out", "timeout"},
        {"json_non_finite", "json_nonfinite"},
        {"binary_output_data", ""},
        {"binary-data-output", "binary_data_output"},
        {"binary_data", "binary_data_output"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char json[256], sentence[256];
        snprintf(json, sizeof(json), REQUEST(",'parameters':{'%s':'x'}"), rows[i][0]);
        snprintf(sentence, sizeof(sentence), "there is no parameter \"%s\"; did you mean \"%s\"?",
                 rows[i][0], rows[i][1]);
        if (*rows[i][1])
            expect_bad(json, ERROR_INVALID_PARAMETER, sentence);
        else
            expect_good(json);
    }
}

static void a_parameter_in_the_wrong_object_is_told(void **state)
{
    (void)state;
    expect_bad(REQUEST(",'bad_indices_policy':'IGNORE'"), ERROR_INVALID_PARAMETER,
               "bad_indices_policy stands in the request, where it says nothing; it belongs into "
               "the parameters of the request");
    expect_bad(REQUEST(",'parameters':{},'timeout':5"), ERROR_INVALID_PARAMETER,
               "timeout stands in the request, where it says nothing; it belongs into the "
               "parameters of the request");
    expect_bad(INPUT("'data':[1],'device':'cpu'"), ERROR_INVALID_PARAMETER,
               "device stands in params, where it says nothing; it belongs into the parameters of "
               "the request");
    expect_bad(INPUT("'data':[1],'parameters':{'bad_indices_policy':'IGNORE'}"),
               ERROR_INVALID_PARAMETER,
               "bad_indices_policy stands in parameters of params, where it says nothing; it "
               "belongs into the parameters of the request");
    expect_bad(INPUT("'shape':[1],'binary_data_size':4"), ERROR_INVALID_PARAMETER,
               "binary_data_size stands in params, where it says nothing; it belongs into the "
               "parameters of params");
    expect_bad(REQUEST(",'outputs':[{'name':'output','binary_data':true}]"),
               ERROR_INVALID_PARAMETER,
               "binary_data stands in outputs[0], where it says nothing; it belongs into the "
               "parameters of outputs[0]");
    expect_bad(REQUEST(",'outputs':[{'name':'output','parameters':{'binary_data_output':true}}]"),
               ERROR_INVALID_PARAMETER,
               "binary_data_output stands in parameters of the output, where it says nothing; it "
               "belongs into the parameters of the request");
}

static void an_input_among_the_parameters_is_told(void **state)
{
    static const char sentence[] = "indices stands in the parameters of the request, where it says "
                                   "nothing; it belongs into its inputs";
    (void)state;
    expect_bad("{'inputs':{'params':[1]},'parameters':{'indices':0}}", ERROR_INVALID_PARAMETER,
               sentence);
    expect_good(REQUEST(",'parameters':{'updates':1,'num_segments':2}")); /* not gather_nd's */
}

static void what_is_like_nothing_is_ignored(void **state)
{
    (void)state;
    expect_good(INPUT("'data':[1],'comment':'x','unit':'m','size':1,'label':[1],'rank':1"));
    expect_good(REQUEST(",'model_name':'x','model_version':'1','user':'me','meta':{'a':[1]}"));
    expect_good(REQUEST(",'parameters':{'priority':1,'sequence_id':5,'sequence_start':true,"
                        "'sequence_end':true,'tenant':'a','trace':1,'max_tokens':5}"));
    expect_good(REQUEST(",'outputs':[{'name':'output','datatype':'FP32','parameters':{'a':1}}]"));
    expect_good(INPUT("'data':[1],'parameters':{'custom':1,'content_type':'np'}"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(another_word_for_a_key_is_told),          TEST(another_word_beside_the_key_is_ignored),
        TEST(keys_of_other_levels_are_told),           TEST(a_mistyped_parameter_is_told),
        TEST(a_parameter_in_the_wrong_object_is_told), TEST(an_input_among_the_parameters_is_told),
        TEST(what_is_like_nothing_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
