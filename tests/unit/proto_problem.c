/* problem: errors as HTTP says them. */
#include "proto/answer/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

static char text[PROBLEM_TEXT_MAX];

/* The statuses of PROTOCOL.md's table; every code that is not here has 400. */
static void every_code_has_its_status(void **state)
{
    static const struct {
        enum error_code code;
        int status;
        bool retry;
    } rows[] = {
        {ERROR_UNAUTHENTICATED, 401, false},
        {ERROR_FORBIDDEN, 403, false},
        {ERROR_QUOTA_EXCEEDED, 429, true},
        {ERROR_NOT_FOUND, 404, false},
        {ERROR_MODEL_NOT_FOUND, 404, false},
        {ERROR_TENSOR_NOT_FOUND, 404, false},
        {ERROR_CONFLICT, 409, true},
        {ERROR_PRECONDITION_FAILED, 412, false},
        {ERROR_IDEMPOTENCY_KEY_REUSED, 422, false},
        {ERROR_TENSOR_MEMORY_FULL, 507, false},
        {ERROR_TENSOR_FILE_FAILED, 507, false},
        {ERROR_TENSOR_HELD, 503, true},
        {ERROR_METHOD_NOT_ALLOWED, 405, false},
        {ERROR_PAYLOAD_TOO_LARGE, 413, false},
        {ERROR_OUTPUT_TOO_LARGE, 413, false},
        {ERROR_UNSUPPORTED_ENCODING, 415, false},
        {ERROR_EXPECTATION_FAILED, 417, false},
        {ERROR_INTERNAL, 500, false},
        {ERROR_NOT_SUPPORTED, 501, false},
        {ERROR_QUEUE_FULL, 503, true},
        {ERROR_RESOURCE_EXHAUSTED, 503, true},
        {ERROR_DRAINING, 503, true},
        {ERROR_DEADLINE_EXCEEDED, 504, false},
        {ERROR_CANCELLED, 499, false},
    };
    (void)state;
    for (int code = ERROR_NONE + 1; code < ERROR_CODE_COUNT; code++) {
        int status = 400;
        bool retry = false;
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            if (rows[i].code == (enum error_code)code) {
                status = rows[i].status;
                retry = rows[i].retry;
            }
        }
        assert_int_equal(problem_status((enum error_code)code), status);
        assert_int_equal(problem_retry((enum error_code)code), retry);
    }
}

static void the_plain_body_has_one_member(void **state)
{
    struct error error;
    (void)state;
    error_set(&error, ERROR_UNKNOWN_INPUT, NULL, "no input \"a\nb\"");
    size_t size = problem_print(text, &error, false, "id-1");
    assert_string_equal(text, "{\"error\":\"UNKNOWN_INPUT: no input \\\"a\\nb\\\"\"}\n");
    assert_int_equal(size, strlen(text));
}

static void a_document_of_an_error_without_details(void **state)
{
    struct error error;
    (void)state;
    error_set(&error, ERROR_QUEUE_FULL, NULL, "the queue is full");
    problem_print(text, &error, true, "req 1");
    assert_string_equal(text, "{\"type\":\"urn:tensord:error:QUEUE_FULL\",\"title\":\"Queue full\","
                              "\"status\":503,\"detail\":\"the queue is full\","
                              "\"instance\":\"req 1\",\"error\":\"QUEUE_FULL: the queue is full\","
                              "\"code\":\"QUEUE_FULL\"}\n");
}

static void titles_are_readable(void **state)
{
    static const struct {
        enum error_code code;
        const char *title;
    } rows[] = {
        {ERROR_INVALID_JSON, "Invalid JSON"},
        {ERROR_NONFINITE_IN_JSON, "Non-finite in JSON"},
        {ERROR_NOT_UTF8, "Not UTF-8"},
        {ERROR_UNSUPPORTED_DTYPE, "Unsupported datatype"},
        {ERROR_SEGMENT_IDS_NOT_SORTED, "Segment ids not sorted"},
        {ERROR_FORBIDDEN, "Forbidden"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error error;
        error_set(&error, rows[i].code, NULL, "x");
        problem_print(text, &error, true, NULL);
        cJSON *json = cJSON_Parse(text);
        const cJSON *title = cJSON_GetObjectItem(json, "title");
        assert_string_equal(cJSON_GetStringValue(title), rows[i].title);
        cJSON_Delete(json);
    }
}

static void a_uuid_becomes_a_urn(void **state)
{
    struct error error;
    (void)state;
    error_set(&error, ERROR_INTERNAL, NULL, "x");
    problem_print(text, &error, true, "0190f3a2-7b1c-7def-8abc-0123456789AB");
    assert_non_null(strstr(text, "\"instance\":\"urn:uuid:0190f3a2-7b1c-7def-8abc-0123456789AB\""));
    problem_print(text, &error, true, "0190f3a2-7b1c-7def-8abc-0123456789ABC");
    assert_non_null(strstr(text, "\"instance\":\"0190f3a2-7b1c-7def-8abc-0123456789ABC\""));
    problem_print(text, &error, true, NULL);
    assert_null(strstr(text, "instance"));
}

static void faults_are_listed(void **state)
{
    struct error error;
    (void)state;
    error_set(&error, ERROR_INDEX_OUT_OF_BOUNDS, "indices", "bad");
    error.fault_count = 2;
    error.faults[0] = (struct fault){
        .position_rank = 1, .position = {1}, .index_rank = 2, .index = {0, 7}, .axis = 1};
    error.faults[1] = (struct fault){.position_rank = 0,
                                     .index_rank = 2,
                                     .index = {-9007199254740993, 9007199254740992},
                                     .axis = 0};
    error.bound_rank = 2;
    error.bound[0] = 4;
    error.bound[1] = INT64_MAX;
    error.invalid_count = 3;
    problem_print(text, &error, true, NULL);
    assert_non_null(strstr(
        text, "\"errors\":[{\"input\":\"indices\",\"position\":[1],\"axis\":1,\"value\":7,"
              "\"index\":[0,7],\"bound\":[4,\"9223372036854775807\"]},"
              "{\"input\":\"indices\",\"position\":[],\"axis\":0,\"value\":\"-9007199254740993\","
              "\"index\":[\"-9007199254740993\",9007199254740992],"
              "\"bound\":[4,\"9223372036854775807\"]}],\"invalid_count\":3}"));
}

static void a_fault_without_axis_or_index_says_where_it_is(void **state)
{
    struct error error;
    (void)state;
    error_set(&error, ERROR_DIVISION_BY_ZERO, "updates", "zero");
    error.fault_count = 1;
    error.faults[0] = (struct fault){.position_rank = 2, .position = {3, 4}, .axis = -1};
    problem_print(text, &error, true, NULL);
    assert_non_null(strstr(text, "\"errors\":[{\"input\":\"updates\",\"position\":[3,4]}]}"));
}

/* The longest of everything fits, and is JSON. */
static void the_longest_document_fits(void **state)
{
    struct error error;
    char instance[PROBLEM_INSTANCE_MAX + 1];
    (void)state;
    memset(instance, '"', sizeof(instance) - 1);
    instance[sizeof(instance) - 1] = '\0';
    error_set(&error, ERROR_SEGMENT_ID_OUT_OF_RANGE, "segment_ids", "x");
    memset(error.message, '\x01', sizeof(error.message) - 1);
    error.message[sizeof(error.message) - 1] = '\0';
    error.fault_count = ERROR_FAULTS_MAX;
    error.bound_rank = RANK_MAX;
    error.invalid_count = INT64_MAX;
    for (int i = 0; i < RANK_MAX; i++)
        error.bound[i] = INT64_MAX;
    for (int f = 0; f < ERROR_FAULTS_MAX; f++) {
        struct fault *fault = &error.faults[f];
        *fault = (struct fault){.position_rank = RANK_MAX, .index_rank = RANK_MAX, .axis = 15};
        for (int i = 0; i < RANK_MAX; i++)
            fault->position[i] = fault->index[i] = INT64_MIN;
    }
    size_t size = problem_print(text, &error, true, instance);
    assert_true(size < PROBLEM_TEXT_MAX);
    cJSON *json = cJSON_Parse(text);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "errors")), ERROR_FAULTS_MAX);
    cJSON_Delete(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_its_status),
        cmocka_unit_test(the_plain_body_has_one_member),
        cmocka_unit_test(a_document_of_an_error_without_details),
        cmocka_unit_test(titles_are_readable),
        cmocka_unit_test(a_uuid_becomes_a_urn),
        cmocka_unit_test(faults_are_listed),
        cmocka_unit_test(a_fault_without_axis_or_index_says_where_it_is),
        cmocka_unit_test(the_longest_document_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
