/* route: the table of what can be asked for. */
#include "server/http/route.h"
#include "server/net/base_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct error error;
static struct route_match match;

static enum error_code find(const char *method, const char *url)
{
    return route_find(&match, method, url, &error);
}

static void paths_and_methods_find_their_row(void **state)
{
    static const struct {
        const char *method, *url, *pattern;
    } rows[] = {
        {"POST", "/v2/models/tensor_scatter_add/infer",
         "/v2/models/{op}[/versions/{version}]/infer"},
        {"POST", "/v2/models/TensorScatterAdd/versions/1/infer",
         "/v2/models/{op}[/versions/{version}]/infer"},
        {"GET", "/v2/health/live", "/v2/health/live"},
        {"HEAD", "/v2/health/ready", "/v2/health/ready"},
        {"GET", "/livez", "/livez"},
        {"GET", "/v2/models/scatter_nd/ready", "/v2/models/{op}[/versions/{version}]/ready"},
        {"GET", "/v2/systemsharedmemory/status", "/v2/systemsharedmemory[/region/{region}]/status"},
        {"GET", "/v2/systemsharedmemory/region/a/status",
         "/v2/systemsharedmemory[/region/{region}]/status"},
        {"POST", "/v2/repository/models/x/load", "/v2/repository/models/{model}/load"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(find(rows[i].method, rows[i].url), ERROR_NONE);
        assert_string_equal(match.route->pattern, rows[i].pattern);
    }
}

static void the_operation_is_found_on_the_way(void **state)
{
    (void)state;
    assert_int_equal(find("POST", "/v2/models/TensorScatterAdd/infer"), ERROR_NONE);
    assert_string_equal(match.op_name.name, "TensorScatterAdd");
    assert_string_equal(match.op_name.op->name, "tensor_scatter_add");
}

static void what_is_not_there_is_not_found(void **state)
{
    static const char *const urls[] = {"",
                                       "/v2/",
                                       "/v2/models//infer",
                                       "/v2/models/scatter_nd/infer/",
                                       "/v2/models/scatter_nd/versions//infer",
                                       "/v2/health/live/",
                                       "/v2/health/liv",
                                       "/v3"};
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        if (strcmp(urls[i], "/v2/") != 0)
            assert_int_equal(find("POST", urls[i]), ERROR_NOT_FOUND);
}

static void unknown_operations_and_versions_are_named(void **state)
{
    (void)state;
    assert_int_equal(find("POST", "/v2/models/nothing/infer"), ERROR_MODEL_NOT_FOUND);
    assert_non_null(strstr(error.message, "'nothing'"));
    assert_int_equal(find("POST", "/v2/models/scatter_nd/versions/2/infer"), ERROR_MODEL_NOT_FOUND);
    assert_non_null(strstr(error.message, "no version '2'"));
    assert_int_equal(find("POST", "/v2/models/scatter_nd/versions/11/infer"),
                     ERROR_MODEL_NOT_FOUND);
}

static void expect_sentence(const char *url, const char *sentence)
{
    assert_true(find("POST", url) != ERROR_NONE);
    if (strcmp(error.message, sentence) != 0)
        fail_msg("%s; expected %s", error.message, sentence);
}

static void a_path_that_is_not_there_is_told_what_is(void **state)
{
#define RUN(name)                                                                                  \
    "POST /v2/models/" name "/infer runs an operation, GET /v2/models lists them, GET "            \
    "/openapi.json describes the rest"
    (void)state;
    expect_sentence("/infer", "there is nothing at /infer; " RUN("{operation}"));
    expect_sentence("/v1/models/gather_nd:predict",
                    "there is nothing at /v1/models/gather_nd:predict; " RUN("gather_nd"));
    expect_sentence("/v1/models/x:predict",
                    "there is nothing at /v1/models/x:predict; " RUN("{operation}"));
    expect_sentence("/v2/models/gather_nd/infer/",
                    "there is nothing at /v2/models/gather_nd/infer/; did you mean "
                    "/v2/models/gather_nd/infer?");
    expect_sentence("//v2/models//GatherNd//infer",
                    "there is nothing at //v2/models//GatherNd//infer; did you mean "
                    "/v2/models/GatherNd/infer?");
    expect_sentence("/V2/Models/gather_nd/Infer",
                    "there is nothing at /V2/Models/gather_nd/Infer; did you mean "
                    "/v2/models/gather_nd/infer?");
    expect_sentence("/v2/helath/live",
                    "there is nothing at /v2/helath/live; did you mean /v2/health/live?");
    expect_sentence("/metric", "there is nothing at /metric; did you mean /metrics?");
#undef RUN
}

static void an_operation_that_is_not_there_is_told_the_nearest(void **state)
{
    static const char *const rows[][2] = {
        {"tensor_scatter_ad", "tensor_scatter_add"},
        {"tensorscatteradd", "TensorScatterAdd"},
        {"scatter_add", "tensor_scatter_add"},
        {"segment_sqrt_n", "sparse_segment_sqrt_n"},
        {"gathers", "gather"},
        {"tf.gather_nd", "gather_nd"},
        {"GATHER_ND", "gather_nd"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char url[128], sentence[256];
        snprintf(url, sizeof url, "/v2/models/%s/infer", rows[i][0]);
        snprintf(sentence, sizeof sentence,
                 "there is no operation '%s'; did you mean '%s'? (GET /v2/models lists "
                 "them)",
                 rows[i][0], rows[i][1]);
        expect_sentence(url, sentence);
    }
    expect_sentence("/v2/models/resnet50/infer",
                    "there is no operation 'resnet50' (GET /v2/models lists them)");
}

static void other_methods_are_told_which_are_allowed(void **state)
{
    char allow[64];
    (void)state;
    assert_int_equal(find("GET", "/v2/models/scatter_nd/infer"), ERROR_METHOD_NOT_ALLOWED);
    methods_print(match.allowed, allow);
    assert_string_equal(allow, "POST, OPTIONS");
    assert_int_equal(find("POST", "/v2/health/live"), ERROR_METHOD_NOT_ALLOWED);
    methods_print(match.allowed, allow);
    assert_string_equal(allow, "GET, HEAD, OPTIONS");
    assert_int_equal(find("DELETE", "/v2/health/live"), ERROR_METHOD_NOT_ALLOWED);
    assert_non_null(strstr(error.message, "the method is DELETE"));
    assert_int_equal(find("DELETE", "/nowhere"), ERROR_NOT_FOUND);
    assert_int_equal(find("POST", "/v2/models/stats"), ERROR_METHOD_NOT_ALLOWED);
    assert_int_equal(find("DELETE", "/v2/models/nothing"), ERROR_MODEL_NOT_FOUND);
}

static void options_is_answered_for_every_path(void **state)
{
    (void)state;
    assert_int_equal(find("OPTIONS", "/v2/models/scatter_nd/infer"), ERROR_NONE);
    assert_int_equal(match.allowed, METHOD_POST | METHOD_OPTIONS);
    assert_int_equal(find("OPTIONS", "/nowhere"), ERROR_NOT_FOUND);
}

static void every_row_has_a_handler_or_a_job_and_is_described(void **state)
{
    (void)state;
    for (int i = 0; i < route_count(); i++) {
        const struct route *route = route_at(i);
        bool has_job = route->kind == ROUTE_INFER || route->kind == ROUTE_TENSOR;
        assert_true((route->answer != NULL) != has_job);
        assert_true(route->id && route->summary);
        assert_string_not_equal(method_name(route->method), "other");
    }
}

static void a_base_path_stands_in_front(void **state)
{
    (void)state;
    assert_string_equal(base_path_below("/a/b", "/a/b/v2"), "/v2");
    assert_string_equal(base_path_below("", "/v2"), "/v2");
    assert_string_equal(base_path_below("/a/b", "/a/b"), "/"); /* an address typed by hand */
    assert_null(base_path_below("/a/b", "/a/bc/v2"));
    assert_null(base_path_below("/a/b", "/v2"));
    assert_null(base_path_below("/a/b", "/A/b/v2"));
}

static void a_target_may_be_an_absolute_url(void **state)
{
    (void)state;
    assert_string_equal(base_path_below("", "http://here/v2"), "/v2");
    assert_string_equal(base_path_below("/a", "HTTPS://here:8080/a/v2"), "/v2");
    assert_null(base_path_below("", "http://here"));
    assert_null(base_path_below("/a", "http://a/v2"));
    assert_null(base_path_below("", "ftp://here/v2"));
}

static void a_base_path_has_a_form(void **state)
{
    static const char *const wrong[] = {"/", "a", "/a/", "//a", "/a//b", "/a b", "/a?b", "/%41"};
    (void)state;
    assert_int_equal(base_path_check("", &error), ERROR_NONE);
    assert_int_equal(base_path_check("/team-1/tensord", &error), ERROR_NONE);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(base_path_check(wrong[i], &error), ERROR_INVALID_PARAMETER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_and_methods_find_their_row),
        cmocka_unit_test(the_operation_is_found_on_the_way),
        cmocka_unit_test(what_is_not_there_is_not_found),
        cmocka_unit_test(unknown_operations_and_versions_are_named),
        cmocka_unit_test(a_path_that_is_not_there_is_told_what_is),
        cmocka_unit_test(an_operation_that_is_not_there_is_told_the_nearest),
        cmocka_unit_test(other_methods_are_told_which_are_allowed),
        cmocka_unit_test(options_is_answered_for_every_path),
        cmocka_unit_test(every_row_has_a_handler_or_a_job_and_is_described),
        cmocka_unit_test(a_base_path_stands_in_front),
        cmocka_unit_test(a_target_may_be_an_absolute_url),
        cmocka_unit_test(a_base_path_has_a_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
