/* describe: what the server says about itself is valid JSON with what clients look for. */
#include "proto/answer/describe.h"
#include "tests/support/proto/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char buffer[64 * 1024];
static struct text text;

static int setup(void **state)
{
    (void)state;
    text_init(&text, buffer, sizeof(buffer));
    return 0;
}

static void expect_text(const char *json)
{
    assert_string_equal(text.data, json);
}

static struct op_name find(const char *name)
{
    struct op_name op;
    assert_true(op_find(name, strlen(name), &op));
    return op;
}

static void the_server_names_its_limits(void **state)
{
    struct request_rules rules = {
        .body_limit = 1073741824, .json_limit = 67108864, .output_limit = 1000};
    (void)state;
    describe_server(&text, "1.2.3", &rules, false);
    expect_text("{\"name\":\"tensord\",\"version\":\"1.2.3\",\"extensions\":["
                "\"binary_tensor_data\",\"parameters\",\"statistics\",\"model_configuration\","
                "\"model_repository\",\"schedule_policy\"],\"limits\":{\"max_body\":1073741824,"
                "\"max_json\":67108864,\"max_output\":1000,\"max_rank\":16},"
                "\"devices\":[\"cpu\"]}");
}

static void the_server_names_its_devices(void **state)
{
    struct request_rules rules = {.cuda_devices = 2};
    (void)state;
    describe_server(&text, "1", &rules, true);
    assert_non_null(strstr(text.data, "\"devices\":[\"cpu\",\"cuda:0\",\"cuda:1\"]"));
    assert_non_null(strstr(text.data, "\"resident_tensors\"]"));
}

static void a_model_has_the_name_that_was_asked_for(void **state)
{
    struct op_name op = find("TensorScatterNdAdd");
    (void)state;
    describe_model(&text, &op);
    cJSON *json = json_text_parse(&text);
    assert_string_equal(json_text_at(json, "name")->valuestring, "TensorScatterNdAdd");
    assert_string_equal(json_text_at(json, "versions.0")->valuestring, "1");
    assert_true(cJSON_IsString(json_text_at(json, "platform")));
    assert_string_equal(json_text_at(json, "inputs.0.name")->valuestring, "tensor");
    assert_string_equal(json_text_at(json, "inputs.0.datatype")->valuestring, "FP32");
    assert_string_equal(json_text_at(json, "inputs.1.datatype")->valuestring, "INT64");
    assert_int_equal(cJSON_GetArraySize(json_text_at(json, "inputs.1.shape")), 2);
    assert_string_equal(json_text_at(json, "outputs.0.name")->valuestring, "output");
    assert_string_equal(json_text_at(json, "properties.indices")->valuestring,
                        "required, rank 2 to 16: INT32, INT64");
    cJSON_Delete(json);
}

static void properties_say_what_is_optional(void **state)
{
    struct op_name op = find("sparse_segment_mean");
    (void)state;
    describe_model(&text, &op);
    assert_non_null(strstr(text.data, "\"num_segments\":\"optional, rank 0 to 1: INT32, INT64\""));
    assert_non_null(strstr(text.data, "\"data\":\"required, rank 1 to 16: FP16, BF16, FP32, FP64; "
                                      "also called input_x, x, input\""));
    setup(state);
    op = find("sparse_segment_mean_with_num_segments");
    describe_model(&text, &op);
    assert_non_null(strstr(text.data, "\"num_segments\":\"required, rank 0 to 1: INT32, INT64\""));
}

static void every_name_of_every_op_is_described(void **state)
{
    static const char *const members[] = {"name", "versions", "platform", "inputs", "outputs"};
    for (int i = 0; i < op_count(); i++) {
        for (const struct op_alias *name = op_at(i)->names; name->text; name++) {
            struct op_name op = find(name->text);
            setup(state);
            describe_model(&text, &op);
            cJSON *json = json_text_parse(&text);
            for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); m++)
                assert_non_null(json_text_at(json, members[m]));
            for (int input = 0; input < op_inputs(op.op); input++)
                assert_non_null(
                    json_text_at(json_text_at(json, "properties"), op.op->inputs[input]));
            cJSON_Delete(json);
            setup(state);
            describe_model_config(&text, &op);
            json = json_text_parse(&text);
            assert_int_equal(cJSON_GetArraySize(json_text_at(json, "input")), op_inputs(op.op));
            cJSON_Delete(json);
        }
    }
}

static void the_configuration_is_what_perf_analyzer_reads(void **state)
{
    struct op_name op = find("scatter_nd");
    (void)state;
    describe_model_config(&text, &op);
    expect_text(
        "{\"name\":\"scatter_nd\",\"platform\":\"tensord\",\"backend\":\"tensord\","
        "\"version_policy\":{\"latest\":{\"num_versions\":1}},\"max_batch_size\":0,\"input\":["
        "{\"name\":\"indices\",\"data_type\":\"TYPE_INT64\",\"format\":\"FORMAT_NONE\","
        "\"dims\":[-1,-1]},{\"name\":\"updates\",\"data_type\":\"TYPE_FP32\","
        "\"format\":\"FORMAT_NONE\",\"dims\":[-1]},{\"name\":\"shape\","
        "\"data_type\":\"TYPE_INT64\",\"format\":\"FORMAT_NONE\",\"dims\":[-1]}],"
        "\"output\":[{\"name\":\"output\",\"data_type\":\"TYPE_FP32\",\"dims\":[-1]}]}");
}

static void statistics_have_every_member(void **state)
{
    struct op_name op = find("ScatterNd");
    struct op_stats stats = {.success = {3, 30},
                             .fail = {1, UINT64_MAX},
                             .queue = {3, 4},
                             .compute_input = {3, 5},
                             .compute_infer = {3, 6},
                             .compute_output = {3, 7},
                             .last_inference_ms = 1764500000000};
    (void)state;
    describe_model_stats(&text, &op, &stats);
    expect_text(
        "{\"model_stats\":[{\"name\":\"ScatterNd\",\"version\":\"1\","
        "\"last_inference\":1764500000000,\"inference_count\":3,\"execution_count\":3,"
        "\"inference_stats\":{\"success\":{\"count\":3,\"ns\":30},"
        "\"fail\":{\"count\":1,\"ns\":18446744073709551615},"
        "\"queue\":{\"count\":3,\"ns\":4},\"compute_input\":{\"count\":3,\"ns\":5},"
        "\"compute_infer\":{\"count\":3,\"ns\":6},\"compute_output\":{\"count\":3,\"ns\":7},"
        "\"cache_hit\":{\"count\":0,\"ns\":0},\"cache_miss\":{\"count\":0,\"ns\":0}},"
        "\"response_stats\":{},\"batch_stats\":[],\"memory_usage\":[]}]}");
}

static void statistics_of_all_are_in_the_order_of_the_table(void **state)
{
    struct op_stats *stats = calloc((size_t)op_count(), sizeof(*stats));
    (void)state;
    stats[op_count() - 1].success.count = 7;
    describe_all_stats(&text, stats);
    cJSON *json = json_text_parse(&text);
    const cJSON *list = json_text_at(json, "model_stats");
    assert_int_equal(cJSON_GetArraySize(list), op_count());
    for (int i = 0; i < op_count(); i++)
        assert_string_equal(json_text_at(cJSON_GetArrayItem(list, i), "name")->valuestring,
                            op_at(i)->name);
    assert_int_equal(
        json_text_at(cJSON_GetArrayItem(list, op_count() - 1), "inference_count")->valueint, 7);
    cJSON_Delete(json);
    free(stats);
}

static void the_index_lists_canonical_names(void **state)
{
    (void)state;
    describe_index(&text, true);
    cJSON *json = json_text_parse(&text);
    assert_int_equal(cJSON_GetArraySize(json), op_count());
    for (int i = 0; i < op_count(); i++) {
        assert_string_equal(json_text_at(cJSON_GetArrayItem(json, i), "name")->valuestring,
                            op_at(i)->name);
        assert_string_equal(json_text_at(cJSON_GetArrayItem(json, i), "state")->valuestring,
                            "READY");
    }
    cJSON_Delete(json);
    setup(state);
    describe_index(&text, false);
    assert_null(strstr(text.data, "\"READY\""));
}

static void tracing_and_logging_are_off(void **state)
{
    (void)state;
    describe_trace(&text);
    cJSON *json = json_text_parse(&text);
    assert_string_equal(json_text_at(json, "trace_level.0")->valuestring, "OFF");
    cJSON_Delete(json);
    setup(state);
    describe_logging(&text);
    json = json_text_parse(&text);
    assert_true(cJSON_IsFalse(json_text_at(json, "log_info")));
    assert_string_equal(json_text_at(json, "log_file")->valuestring, "");
    cJSON_Delete(json);
}

static void a_small_buffer_is_cut_and_says_so(void **state)
{
    struct text small;
    char bytes[100];
    struct op_name op = find("gather_nd");
    (void)state;
    text_init(&small, bytes, sizeof(bytes));
    describe_model(&small, &op);
    assert_true(small.cut);
}

#define TEST(NAME) cmocka_unit_test_setup(NAME, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_server_names_its_limits),
        TEST(the_server_names_its_devices),
        TEST(a_model_has_the_name_that_was_asked_for),
        TEST(properties_say_what_is_optional),
        TEST(every_name_of_every_op_is_described),
        TEST(the_configuration_is_what_perf_analyzer_reads),
        TEST(statistics_have_every_member),
        TEST(statistics_of_all_are_in_the_order_of_the_table),
        TEST(the_index_lists_canonical_names),
        TEST(tracing_and_logging_are_off),
        TEST(a_small_buffer_is_cut_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
