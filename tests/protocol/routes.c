/* Every route but infer: what it answers, to whom it says no, and how. */
#include "tests/support/http/fixture.h"

#include <string.h>

static struct answer get(void **state, const char *path)
{
    return fixture_call(*state, &(struct call){.path = path});
}

static void expect_get(void **state, const char *path, const char *body)
{
    struct answer a = get(state, path);

    expect_json(&a, body);
    answer_release(&a);
}

static void health_says_live_and_ready(void **state)
{
    expect_get(state, "/v2/health/live", "{'live':true}");
    expect_get(state, "/livez", "{'live':true}");
    expect_get(state, "/v2/health/ready", "{'live':true,'ready':true}");
    expect_get(state, "/readyz", "{'live':true,'ready':true}");
    expect_get(state, "/healthz", "{'live':true,'ready':true}");
}

static void the_server_describes_itself(void **state)
{
    static const char *const paths[] = {"/v2", "/v2/"};
    static const char *const parts[] = {"'name':'tensord'", "'version':'", "'binary_tensor_data'",
                                        "'limits':{"};

    for (int i = 0; i < 2; i++) {
        struct answer a = get(state, paths[i]);

        assert_int_equal(a.status, 200);
        expect_header(&a, "Content-Type", "application/json");
        for (int part = 0; part < 4; part++)
            expect_part(&a, parts[part]);
        answer_release(&a);
    }
}

static void a_model_describes_itself(void **state)
{
    static const char *const paths[] = {"/v2/models/TensorScatterAdd",
                                        "/v2/models/TensorScatterAdd/versions/1"};
    static const char *const parts[] = {"'name':'TensorScatterAdd'",
                                        "'versions':['1']",
                                        "'platform':'",
                                        "'inputs':[{'name':'tensor',",
                                        "'name':'indices',",
                                        "'outputs':[{'name':'output',",
                                        "'properties':{"};

    for (int i = 0; i < 2; i++) {
        struct answer a = get(state, paths[i]);

        assert_int_equal(a.status, 200);
        for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++)
            expect_part(&a, parts[part]);
        answer_release(&a);
    }
}

static void a_model_is_ready(void **state)
{
    expect_get(state, "/v2/models/scatter_nd/ready", "{'name':'scatter_nd','ready':true}");
    expect_get(state, "/v2/models/ScatterNd/versions/1/ready", "{'name':'ScatterNd','ready':true}");
}

static void unknown_models_and_paths_are_404(void **state)
{
    static const struct {
        const char *path, *code;
    } rows[] = {
        {"/v2/models/nope", "MODEL_NOT_FOUND"},
        {"/v2/models/nope/ready", "MODEL_NOT_FOUND"},
        {"/v2/models/scatter_nd/versions/2", "MODEL_NOT_FOUND"},
        {"/v2/models/scatter_nd/versions/1/nope", "NOT_FOUND"},
        {"/v2/models/scatter_nd/", "NOT_FOUND"},
        {"/v2/models/", "NOT_FOUND"},
        {"/v1/models/scatter_nd", "NOT_FOUND"},
        {"/v2/health", "NOT_FOUND"},
        {"/v2/health/live/", "NOT_FOUND"},
        {"/v2/health/liv", "NOT_FOUND"},
        {"/favicon.ico", "NOT_FOUND"},
        {"/v2/../v2/health/live", "NOT_FOUND"},
        {"//v2/health/live", "NOT_FOUND"},
        {"/v2/models/%2e%2e/infer", "MODEL_NOT_FOUND"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer a = get(state, rows[i].path);

        expect_error(&a, 404, rows[i].code, "");
        answer_release(&a);
    }
}

static void a_query_is_ignored(void **state)
{
    expect_get(state, "/v2/health/live?probe=1", "{'live':true}");
}

static void other_methods_are_405_and_say_what_is_allowed(void **state)
{
    static const struct {
        const char *method, *path, *allow;
    } rows[] = {
        {"GET", "/v2/models/scatter_nd/infer", "POST, OPTIONS"},
        {"PUT", "/v2/models/scatter_nd/infer", "POST, OPTIONS"},
        {"DELETE", "/v2/health/live", "GET, HEAD, OPTIONS"},
        {"PATCH", "/v2", "GET, HEAD, OPTIONS"},
        {"DELETE", "/v2/models/scatter_nd", "GET, HEAD, OPTIONS"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer a =
            fixture_call(*state, &(struct call){.method = rows[i].method, .path = rows[i].path});

        expect_error(&a, 405, "METHOD_NOT_ALLOWED", rows[i].method);
        expect_header(&a, "Allow", rows[i].allow);
        answer_release(&a);
    }
}

static void head_is_get_without_a_body(void **state)
{
    struct answer got = get(state, "/v2/health/ready");
    struct answer a =
        fixture_call(*state, &(struct call){.method = "HEAD", .path = "/v2/health/ready"});

    assert_int_equal(a.status, 200);
    assert_int_equal(a.size, 0);
    expect_header(&a, "Content-Type", "application/json");
    expect_header(&a, "Content-Length", answer_header(&got, "Content-Length"));
    answer_release(&got);
    answer_release(&a);
}

static void options_is_204_with_allow(void **state)
{
    struct answer a = fixture_call(
        *state, &(struct call){.method = "OPTIONS", .path = "/v2/models/scatter_nd/infer"});

    assert_int_equal(a.status, 204);
    assert_int_equal(a.size, 0);
    expect_header(&a, "Allow", "POST, OPTIONS");
    expect_header(&a, "Access-Control-Allow-Origin", NULL);
    answer_release(&a);
}

static void a_request_id_is_echoed(void **state)
{
    struct answer a = fixture_call(
        *state, &(struct call){.path = "/v2/health/live", .headers = {"X-Request-Id: abc-123"}});

    expect_header(&a, "X-Request-Id", "abc-123");
    answer_release(&a);
    a = fixture_call(*state, &(struct call){.path = "/nope", .headers = {"X-Request-Id: e-1"}});
    expect_header(&a, "X-Request-Id", "e-1");
    answer_release(&a);
}

static void a_request_id_is_made_where_there_is_none(void **state)
{
    struct answer first = get(state, "/v2/health/live"), second = get(state, "/v2/health/live");
    const char *id = answer_header(&first, "X-Request-Id");

    assert_non_null(id);
    assert_true(strlen(id) >= 16);
    assert_non_null(answer_header(&second, "X-Request-Id"));
    assert_string_not_equal(id, answer_header(&second, "X-Request-Id"));
    answer_release(&first);
    answer_release(&second);
}

static void a_request_id_that_cannot_be_logged_is_replaced(void **state)
{
    struct answer a = fixture_call(
        *state, &(struct call){.path = "/v2/health/live", .headers = {"X-Request-Id: a b\tc"}});
    const char *id = answer_header(&a, "X-Request-Id");

    assert_non_null(id);
    assert_true(strlen(id) >= 16);
    assert_null(strpbrk(id, " \t"));
    answer_release(&a);
}

static void answers_are_never_compressed(void **state)
{
    struct answer a =
        fixture_call(*state, &(struct call){.path = "/v2/models/scatter_nd",
                                            .headers = {"Accept-Encoding: gzip, deflate, br"}});

    assert_int_equal(a.status, 200);
    expect_header(&a, "Content-Encoding", NULL);
    assert_int_equal(a.body[0], '{');
    answer_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(health_says_live_and_ready),
        cmocka_unit_test(the_server_describes_itself),
        cmocka_unit_test(a_model_describes_itself),
        cmocka_unit_test(a_model_is_ready),
        cmocka_unit_test(unknown_models_and_paths_are_404),
        cmocka_unit_test(a_query_is_ignored),
        cmocka_unit_test(other_methods_are_405_and_say_what_is_allowed),
        cmocka_unit_test(head_is_get_without_a_body),
        cmocka_unit_test(options_is_204_with_allow),
        cmocka_unit_test(a_request_id_is_echoed),
        cmocka_unit_test(a_request_id_is_made_where_there_is_none),
        cmocka_unit_test(a_request_id_that_cannot_be_logged_is_replaced),
        cmocka_unit_test(answers_are_never_compressed),
    };

    return cmocka_run_group_tests_name("routes", tests, fixture_start, fixture_stop);
}
