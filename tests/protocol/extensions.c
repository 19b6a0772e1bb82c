/* Triton's routes beside infer: configuration, statistics, the index, and what is politely not
 * there. */
#include "tests/support/http/fixture.h"

#include <string.h>

static struct answer call(void **state, const char *method, const char *path, const char *body)
{
    return fixture_call(*state, &(struct call){.method = method,
                                               .path = path,
                                               .body = body,
                                               .size = body != NULL ? strlen(body) : 0});
}

static void expect_parts(struct answer *a, const char *const *parts)
{
    assert_int_equal(a->status, 200);
    expect_header(a, "Content-Type", "application/json");
    for (; *parts != NULL; parts++)
        expect_part(a, *parts);
    answer_release(a);
}

static void configuration_is_a_minimal_model_config(void **state)
{
    static const char *const parts[] = {
        "'name':'gather_nd'", "'max_batch_size':0", "'input':[{", "'name':'params'",
        "'data_type':'TYPE_", "'output':[{",        NULL};
    struct answer a = call(state, "GET", "/v2/models/gather_nd/config", NULL);

    expect_parts(&a, parts);
}

static void statistics_have_every_member_that_is_read_unchecked(void **state)
{
    static const char *const parts[] = {"{'model_stats':[{",
                                        "'name':'scatter_nd'",
                                        "'version':'1'",
                                        "'inference_count':1",
                                        "'execution_count':1",
                                        "'success':{'count':1,",
                                        "'fail':{'count':1,",
                                        "'queue':{'count':",
                                        "'compute_input':{'count':",
                                        "'compute_infer':{'count':",
                                        "'compute_output':{'count':",
                                        "'cache_hit':{'count':0,",
                                        "'cache_miss':{'count':0,",
                                        NULL};
    struct answer a =
        fixture_json(*state, "ScatterNd", "{'inputs':{'indices':[[9]],'updates':[1],'shape':[4]}}");

    expect_error(&a, 400, "INDEX_OUT_OF_BOUNDS", "");
    answer_release(&a);
    fixture_check_alive(*state);
    a = call(state, "GET", "/v2/models/scatter_nd/stats", NULL);
    expect_parts(&a, parts);
    a = call(state, "GET", "/v2/models/scatter_nd/versions/1/stats", NULL);
    expect_parts(&a, parts);
}

static void statistics_of_all_models(void **state)
{
    static const char *const parts[] = {"{'model_stats':[{", "'name':'scatter_nd'",
                                        "'name':'sparse_segment_mean'", NULL};
    struct answer a = call(state, "GET", "/v2/models/stats", NULL);

    expect_parts(&a, parts);
}

static void the_index_lists_every_op(void **state)
{
    static const char *const bodies[] = {"", "{}", "{\"ready\":true}"};
    static const char *const parts[] = {"{'name':'scatter_nd','version':'1','state':'READY'",
                                        "'name':'tensor_scatter_add'", "'name':'gather_nd'", NULL};

    for (int i = 0; i < 3; i++) {
        struct answer a = call(state, "POST", "/v2/repository/index", bodies[i]);

        assert_int_equal(a.body[0], '[');
        expect_parts(&a, parts);
    }
}

static void what_would_change_something_is_501(void **state)
{
    static const char *const paths[] = {
        "/v2/repository/models/scatter_nd/load",
        "/v2/repository/models/scatter_nd/unload",
        "/v2/systemsharedmemory/region/r/register",
        "/v2/cudasharedmemory/region/r/register",
        "/v2/trace/setting",
        "/v2/logging",
        "/v2/models/scatter_nd/trace/setting",
    };

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct answer a = call(state, "POST", paths[i], "{}");

        expect_error(&a, 501, "NOT_SUPPORTED", "");
        answer_release(&a);
    }
}

/* Whoever watches the log for errors is not told of what a client only hoped for. */
static void what_is_not_supported_is_no_error_in_the_log(void **state)
{
    struct fixture *f = *state;
    struct answer a = fixture_call(f, &(struct call){.method = "POST",
                                                     .path = "/v2/logging",
                                                     .headers = {"X-Request-Id: hoped-for"}});

    expect_error(&a, 501, "NOT_SUPPORTED", "");
    answer_release(&a);
    assert_true(server_says(
        &f->server, "\"level\":\"warn\",\"msg\":\"request\",\"request_id\":\"hoped-for\"", 1));
}

static void what_changes_nothing_is_answered(void **state)
{
    static const struct {
        const char *method, *path, *body;
    } rows[] = {
        {"GET", "/v2/systemsharedmemory/status", "[]"},
        {"GET", "/v2/cudasharedmemory/status", "[]"},
        {"GET", "/v2/systemsharedmemory/region/r/status", "[]"},
        {"POST", "/v2/systemsharedmemory/unregister", "{}"},
        {"POST", "/v2/cudasharedmemory/region/r/unregister", "{}"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer a =
            call(state, rows[i].method, rows[i].path, rows[i].method[0] == 'P' ? "" : NULL);

        expect_json(&a, rows[i].body);
        answer_release(&a);
    }
}

static void logging_and_tracing_are_off(void **state)
{
    static const char *const log_parts[] = {"'log_file':''", "'log_verbose_level':0", NULL};
    static const char *const trace_parts[] = {"'trace_level':['OFF']", NULL};
    struct answer a = call(state, "GET", "/v2/logging", NULL);

    expect_parts(&a, log_parts);
    a = call(state, "GET", "/v2/trace/setting", NULL);
    expect_parts(&a, trace_parts);
    a = call(state, "GET", "/v2/models/scatter_nd/trace/setting", NULL);
    expect_parts(&a, trace_parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configuration_is_a_minimal_model_config),
        cmocka_unit_test(statistics_have_every_member_that_is_read_unchecked),
        cmocka_unit_test(statistics_of_all_models),
        cmocka_unit_test(the_index_lists_every_op),
        cmocka_unit_test(what_would_change_something_is_501),
        cmocka_unit_test(what_is_not_supported_is_no_error_in_the_log),
        cmocka_unit_test(what_changes_nothing_is_answered),
        cmocka_unit_test(logging_and_tracing_are_off),
    };

    return cmocka_run_group_tests_name("extensions", tests, fixture_start, fixture_stop);
}
