/* request_parameters: each parameter, each of its values, and what is refused. */
#include "proto/request/request.h"

#include "tests/support/proto/infer_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request with these members in its `parameters`; ' stands for ". */
static enum error_code decode(const char *parameters)
{
    char json[1024];
    snprintf(json, sizeof(json), "{'inputs':{'params':[1],'indices':[[0]]},'parameters':{%s}}",
             parameters);
    char *text = quote(json);
    enum error_code code = infer_decode(&f, "gather_nd", text, strlen(text));
    free(text);
    return code;
}

static void expect_good(const char *parameters)
{
    if (decode(parameters) != ERROR_NONE)
        fail_msg("%s: %s", parameters, f.error.message);
}

static void expect_refused(const char *parameters, const char *message)
{
    assert_int_equal(decode(parameters), ERROR_INVALID_PARAMETER);
    assert_string_equal(f.error.message, message);
}

/* bad_indices_policy against the setting and the device that was asked for. */
static void who_ignores_bad_indices(void **state)
{
    static const struct {
        const char *parameters;
        enum bad_indices setting;
        enum device device; /* the setting */
        bool ignores;
    } rows[] = {
        {"", BAD_INDICES_DEVICE, DEVICE_AUTO, false},
        {"", BAD_INDICES_DEVICE, DEVICE_CPU, false},
        {"", BAD_INDICES_DEVICE, DEVICE_CUDA, true},
        {"'device':'cpu'", BAD_INDICES_DEVICE, DEVICE_CUDA, false},
        {"'device':'auto'", BAD_INDICES_DEVICE, DEVICE_CUDA, false},
        {"'device':'cuda'", BAD_INDICES_DEVICE, DEVICE_CPU, true},
        {"'device':'cuda:0'", BAD_INDICES_DEVICE, DEVICE_AUTO, true},
        {"'device':'cuda'", BAD_INDICES_ERROR, DEVICE_CUDA, false},
        {"'device':'cpu'", BAD_INDICES_IGNORE, DEVICE_CPU, true},
        {"'bad_indices_policy':''", BAD_INDICES_DEVICE, DEVICE_CUDA, true},
        {"'bad_indices_policy':'DEFAULT'", BAD_INDICES_IGNORE, DEVICE_CPU, true},
        {"'bad_indices_policy':'DEFAULT'", BAD_INDICES_DEVICE, DEVICE_CPU, false},
        {"'bad_indices_policy':'ERROR'", BAD_INDICES_IGNORE, DEVICE_CUDA, false},
        {"'bad_indices_policy':'IGNORE'", BAD_INDICES_ERROR, DEVICE_CPU, true},
    };
    (void)state;
    f.rules.cuda_devices = 1;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        f.rules.bad_indices = rows[i].setting;
        f.rules.device = rows[i].device;
        expect_good(rows[i].parameters);
        assert_int_equal(f.request.ignore_bad, rows[i].ignores);
    }
}

static void policies_that_are_none(void **state)
{
    (void)state;
    expect_refused("'bad_indices_policy':'ignore'",
                   "parameter bad_indices_policy is \"ignore\"; expected one of \"\", \"DEFAULT\", "
                   "\"ERROR\", \"IGNORE\"");
    expect_refused("'bad_indices_policy':5",
                   "parameter bad_indices_policy is 5; expected one of \"\", \"DEFAULT\", "
                   "\"ERROR\", \"IGNORE\"");
    expect_refused("'bad_indices_policy':[]",
                   "parameter bad_indices_policy is neither text, number nor boolean; expected one "
                   "of \"\", \"DEFAULT\", \"ERROR\", \"IGNORE\"");
}

static void devices_that_the_server_has(void **state)
{
    static const struct {
        const char *parameters;
        enum device device;
        int index;
    } rows[] = {
        {"", DEVICE_DEFAULT, -1},
        {"'device':'auto'", DEVICE_AUTO, -1},
        {"'device':'cpu'", DEVICE_CPU, -1},
        {"'device':'cuda'", DEVICE_CUDA, -1},
        {"'device':'cuda:0'", DEVICE_CUDA, 0},
        {"'device':'cuda:10'", DEVICE_CUDA, 10},
    };
    (void)state;
    f.rules.cuda_devices = 11;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        expect_good(rows[i].parameters);
        assert_int_equal(f.request.device, rows[i].device);
        assert_int_equal(f.request.device_index, rows[i].index);
    }
}

static void devices_that_the_server_lacks(void **state)
{
    static const char *const devices[] = {
        "tpu",    "",        "CPU",     "cuda:",
        "cuda:2", "cuda:-1", "cuda:1x", "cuda:99999999999999999999",
        "cudax",  "cuda "};
    char parameters[64], message[256];
    (void)state;
    f.rules.cuda_devices = 2;
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        snprintf(parameters, sizeof(parameters), "'device':'%s'", devices[i]);
        snprintf(message, sizeof(message),
                 "parameter device is \"%s\"; expected one of \"auto\", \"cpu\", \"cuda\", "
                 "\"cuda:0\" to \"cuda:1\"",
                 devices[i]);
        expect_refused(parameters, message);
    }
    f.rules.cuda_devices = 0;
    expect_refused("'device':'cuda'", "parameter device is \"cuda\"; expected one of \"auto\", "
                                      "\"cpu\" (this server has no CUDA device)");
    expect_refused("'device':'cuda:0'", "parameter device is \"cuda:0\"; expected one of \"auto\", "
                                        "\"cpu\" (this server has no CUDA device)");
    assert_int_equal(decode("'device':0"), ERROR_INVALID_PARAMETER);
}

static void timeouts(void **state)
{
    static const char *const bad[] = {
        "-1",    "1.5", "'10'", "true", "1e300", "9007199254740992", "0.9999999999999999999999",
        "1e-400"};
    char parameters[64];
    (void)state;
    expect_good("'timeout':0");
    assert_int_equal(f.request.timeout_us, 0);
    expect_good("'timeout':250");
    assert_int_equal(f.request.timeout_us, 250);
    expect_good("'timeout':9007199254740991");
    assert_int_equal(f.request.timeout_us, 9007199254740991);
    expect_good("'timeout':null");
    assert_int_equal(f.request.timeout_us, 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(parameters, sizeof(parameters), "'timeout':%s", bad[i]);
        assert_int_equal(decode(parameters), ERROR_INVALID_PARAMETER);
        assert_non_null(strstr(f.error.message, "microseconds"));
    }
}

static void what_stands_for_a_number_that_is_not_finite(void **state)
{
    static const struct {
        const char *word;
        enum nonfinite nonfinite;
    } rows[] = {{"error", NONFINITE_ERROR},
                {"token", NONFINITE_TOKEN},
                {"string", NONFINITE_STRING},
                {"null", NONFINITE_NULL}};
    char parameters[64];
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(parameters, sizeof(parameters), "'json_nonfinite':'%s'", rows[i].word);
        expect_good(parameters);
        assert_int_equal(f.request.nonfinite, rows[i].nonfinite);
    }
    expect_refused("'json_nonfinite':'zero'",
                   "parameter json_nonfinite is \"zero\"; expected one of \"error\", \"token\", "
                   "\"string\", \"null\"");
}

static void bare_tokens_are_answered_with_bare_tokens(void **state)
{
    static const struct {
        const char *data, *parameters;
        enum nonfinite nonfinite;
    } rows[] = {
        {"[NaN]", "", NONFINITE_TOKEN},
        {"[-Infinity]", "", NONFINITE_TOKEN},
        {"['NaN']", "", NONFINITE_ERROR},
        {"[NaN]", "'json_nonfinite':'error'", NONFINITE_ERROR},
        {"[NaN]", "'json_nonfinite':'null'", NONFINITE_NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char json[256];
        snprintf(json, sizeof(json), "{'inputs':{'params':%s,'indices':[[0]]},'parameters':{%s}}",
                 rows[i].data, rows[i].parameters);
        char *text = quote(json);
        assert_int_equal(infer_decode(&f, "gather_nd", text, strlen(text)), ERROR_NONE);
        assert_int_equal(f.request.nonfinite, rows[i].nonfinite);
        free(text);
    }
}

static void binary_output_is_a_truth(void **state)
{
    (void)state;
    expect_refused("'binary_data_output':'yes'",
                   "parameter binary_data_output is \"yes\"; expected true or false");
    expect_refused("'binary_data_output':1",
                   "parameter binary_data_output is 1; expected true or false");
    expect_refused("'timeout':false", "parameter timeout is false; expected a number of "
                                      "microseconds, an integer from 0 to 2^53 - 1");
}

static void what_triton_has_and_this_server_has_not(void **state)
{
    (void)state;
    expect_refused("'classification':3",
                   "parameter classification asks for an extension that this server does not have");
    expect_refused(
        "'shared_memory_offset':0",
        "parameter shared_memory_offset asks for an extension that this server does not have");
}

static void others_are_ignored(void **state)
{
    (void)state;
    expect_good("'priority':1,'sequence_id':'a','sequence_start':true,'sequence_end':5,"
                "'content_type':'np','triton_x':1,'shared':1,'time':-1");
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_ignores_bad_indices),
        TEST(policies_that_are_none),
        TEST(devices_that_the_server_has),
        TEST(devices_that_the_server_lacks),
        TEST(timeouts),
        TEST(what_stands_for_a_number_that_is_not_finite),
        TEST(bare_tokens_are_answered_with_bare_tokens),
        TEST(binary_output_is_a_truth),
        TEST(what_triton_has_and_this_server_has_not),
        TEST(others_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
