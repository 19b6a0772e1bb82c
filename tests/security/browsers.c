/* Web pages of other origins, a path in front of all routes, and what the log warns of. */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char sum[] = "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[0]],\"updates\":[10]}}";
static const char infer[] = "/v2/models/tensor_scatter_add/infer";

static int start_shared(void **state)
{
    static const char *const settings[] = {
        "--cors_origins=https://app.example,http://localhost:3000", NULL};

    return fixture_start_with(state, settings);
}

static int start_for_all(void **state)
{
    static const char *const settings[] = {"--cors_origins=*", NULL};

    return fixture_start_with(state, settings);
}

static int start_below(void **state)
{
    static const char *const settings[] = {"--base_path=/team/tensord", NULL};

    return fixture_start_with(state, settings);
}

static int start_public(void **state)
{
    static const char *const settings[] = {"--listen=127.0.0.1:0,0.0.0.0:0", NULL};

    return fixture_start_with(state, settings);
}

static struct answer call_from(struct fixture *f, const char *method, const char *path,
                               const char *origin)
{
    bool has_body = method == NULL;

    return fixture_call(f, &(struct call){.method = method,
                                          .path = path,
                                          .headers = {origin},
                                          .body = has_body ? sum : NULL,
                                          .size = has_body ? sizeof(sum) - 1 : 0});
}

static void without_the_setting_nothing_is_said(void **state)
{
    struct answer a = call_from(*state, NULL, infer, "Origin: https://app.example");

    assert_int_equal(a.status, 200);
    expect_header(&a, "Access-Control-Allow-Origin", NULL);
    expect_header(&a, "Vary", NULL);
    answer_release(&a);
    a = call_from(*state, "OPTIONS", infer, "Origin: https://app.example");
    assert_int_equal(a.status, 204);
    expect_header(&a, "Access-Control-Allow-Methods", NULL);
    answer_release(&a);
}

static void a_page_that_may_reads_the_answer(void **state)
{
    struct answer a = call_from(*state, NULL, infer, "Origin: https://app.example");

    assert_int_equal(a.status, 200);
    expect_header(&a, "Access-Control-Allow-Origin", "https://app.example");
    expect_header(&a, "Vary", "Origin");
    assert_non_null(strstr(answer_header(&a, "Access-Control-Expose-Headers"),
                           "Inference-Header-Content-Length"));
    expect_header(&a, "Access-Control-Allow-Credentials", NULL);
    answer_release(&a);
}

static void it_reads_faults_too(void **state)
{
    struct answer a = call_from(*state, "GET", "/nowhere", "Origin: http://localhost:3000");

    assert_int_equal(a.status, 404);
    expect_header(&a, "Access-Control-Allow-Origin", "http://localhost:3000");
    answer_release(&a);
}

static void a_preflight_says_what_may_come(void **state)
{
    struct answer a = call_from(*state, "OPTIONS", infer, "Origin: https://app.example");

    assert_int_equal(a.status, 204);
    expect_header(&a, "Access-Control-Allow-Origin", "https://app.example");
    expect_header(&a, "Access-Control-Allow-Methods", "POST, OPTIONS");
    expect_header(&a, "Access-Control-Max-Age", "7200");
    assert_non_null(strstr(answer_header(&a, "Access-Control-Allow-Headers"), "Authorization"));
    assert_non_null(strstr(answer_header(&a, "Access-Control-Allow-Headers"),
                           "Inference-Header-Content-Length"));
    answer_release(&a);
}

static void other_pages_are_told_nothing(void **state)
{
    static const char *const origins[] = {"Origin: https://evil.example", "Origin: null",
                                          "Origin: https://app.example.evil.example"};

    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
        struct answer a = call_from(*state, "OPTIONS", infer, origins[i]);

        assert_int_equal(a.status, 204);
        expect_header(&a, "Access-Control-Allow-Origin", NULL);
        expect_header(&a, "Access-Control-Allow-Methods", NULL);
        expect_header(&a, "Vary", "Origin");
        answer_release(&a);
    }
}

static void a_star_is_for_all(void **state)
{
    struct answer a = call_from(*state, NULL, infer, "Origin: https://anybody.example");

    expect_header(&a, "Access-Control-Allow-Origin", "*");
    expect_header(&a, "Vary", NULL);
    answer_release(&a);
}

static void routes_are_below_the_base_path_only(void **state)
{
    struct answer a = call_from(*state, NULL, "/team/tensord/v2/models/scatter_nd/infer", NULL);

    assert_int_equal(a.status, 400); /* it is there: an input is missing */
    answer_release(&a);
    a = call_from(*state, "GET", "/team/tensord/v2/health/ready", NULL);
    assert_int_equal(a.status, 200);
    answer_release(&a);
    a = call_from(*state, "GET", "/team/tensord/openapi.json", NULL);
    assert_non_null(strstr(a.body, "\"servers\":[{\"url\":\"/team/tensord\"}]"));
    answer_release(&a);
    a = call_from(*state, "GET", "/v2/health/ready", NULL);
    expect_error(&a, 404, "NOT_FOUND", "/v2/health/ready");
    answer_release(&a);
    a = call_from(*state, "GET", "/team/tensor", NULL);
    expect_error(&a, 404, "NOT_FOUND", "/team/tensor");
    answer_release(&a);
    a = call_from(*state, "GET", "/team/tensord", NULL);
    assert_non_null(strstr(a.body, "\"operations\": \"/team/tensord/v2/models\""));
    answer_release(&a);
}

static void an_open_door_is_warned_of(void **state)
{
    struct fixture *f = *state;
    char *log;

    assert_true(server_says(&f->server, "a public address without TLS and tokens", 1));
    log = server_log(&f->server);
    assert_non_null(strstr(log, "compute\",\"address\":\"0.0.0.0:"));
    assert_null(strstr(log, "compute\",\"address\":\"127.0.0.1:"));
    free(log);
}

int main(void)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(without_the_setting_nothing_is_said),
    };
    const struct CMUnitTest shared[] = {
        cmocka_unit_test(a_page_that_may_reads_the_answer),
        cmocka_unit_test(it_reads_faults_too),
        cmocka_unit_test(a_preflight_says_what_may_come),
        cmocka_unit_test(other_pages_are_told_nothing),
    };
    const struct CMUnitTest for_all[] = {
        cmocka_unit_test(a_star_is_for_all),
    };
    const struct CMUnitTest below[] = {
        cmocka_unit_test(routes_are_below_the_base_path_only),
    };
    const struct CMUnitTest public_address[] = {
        cmocka_unit_test(an_open_door_is_warned_of),
    };

    return cmocka_run_group_tests_name("no CORS", plain, fixture_start, fixture_stop) +
           cmocka_run_group_tests_name("CORS", shared, start_shared, fixture_stop) +
           cmocka_run_group_tests_name("CORS for all", for_all, start_for_all, fixture_stop) +
           cmocka_run_group_tests_name("base_path", below, start_below, fixture_stop) +
           cmocka_run_group_tests_name("warnings", public_address, start_public, fixture_stop);
}
