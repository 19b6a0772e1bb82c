/* Bearer tokens over HTTP: who may compute, how much, and that no token is told to anybody. */
#include "tests/support/http/fixture.h"
#include "tests/support/http/pki.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The SHA-256 of "hush-hush" stands for it. */
#define HUSH "fbdc077454d782ba39d400e06e741b56c14b0a8cf122348c98fe1e91634c5a81"
#define TOKENS                                                                                     \
    "# who may compute\n\n"                                                                        \
    "alice:open-sesame\n"                                                                          \
    "bob:sha256:" HUSH "\n"                                                                        \
    "slow:three-an-hour rate=3/h\n"                                                                \
    "small:little-by-little bytes=100/h\n"

static struct pki pki;

static const char sum[] = "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[0]],\"updates\":[10]}}";

static bool write_tokens(const char *text)
{
    return pki_write(&pki, "tokens", text, strlen(text));
}

static int start_with(void **state, const char *setting)
{
    char path[PKI_PATH_MAX], tokens[PKI_PATH_MAX + 16];
    const char *settings[] = {tokens, setting, NULL};

    if (!pki_open(&pki) || !write_tokens(TOKENS))
        return -1;
    snprintf(tokens, sizeof(tokens), "--tokens=%s", pki_path(&pki, "tokens", path));
    return fixture_start_with(state, settings);
}

static int start(void **state)
{
    return start_with(state, NULL);
}

static int start_protected(void **state)
{
    return start_with(state, "--protect_info=true");
}

static int stop(void **state)
{
    int status = fixture_stop(state);

    pki_close(&pki);
    return status;
}

static struct answer compute(struct fixture *f, const char *authorization)
{
    struct call call = {.path = "/v2/models/tensor_scatter_add/infer",
                        .headers = {authorization},
                        .body = sum,
                        .size = sizeof(sum) - 1};

    return fixture_call(f, &call);
}

static void expect_status(struct fixture *f, const char *authorization, int status)
{
    struct answer a = compute(f, authorization);

    assert_int_equal(a.status, status);
    answer_release(&a);
}

static void expect_get(struct fixture *f, const char *path, const char *authorization, int status)
{
    struct answer a =
        fixture_call(f, &(struct call){.path = path, .headers = {authorization, NULL}});

    assert_int_equal(a.status, status);
    answer_release(&a);
}

static void reload(struct fixture *f, int times)
{
    kill(f->server.pid, SIGHUP);
    assert_true(server_says(&f->server, "\"settings loaded\"", times));
}

static void who_has_a_token_may_compute(void **state)
{
    expect_status(*state, "Authorization: Bearer open-sesame", 200);
    expect_status(*state, "Authorization: bearer  open-sesame", 200);
    expect_status(*state, "Authorization: Bearer hush-hush", 200);
}

static void who_has_none_or_a_wrong_one_may_not(void **state)
{
    static const char *const headers[] = {
        "X-Nothing: 1",
        "Authorization: Bearer open-sesam",
        "Authorization: Bearer open-sesame1",
        "Authorization: Bearer ",
        "Authorization: Bearer alice",
        "Authorization: Bearer alice:open-sesame",
        "Authorization: Basic open-sesame",
        "Authorization: open-sesame",
        ("Authorization: Bearer sha256:" HUSH),
    };

    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        struct answer a = compute(*state, headers[i]);

        expect_error(&a, 401, "UNAUTHENTICATED", "token");
        expect_header(&a, "WWW-Authenticate", "Bearer");
        assert_null(strstr(a.body, "sesame"));
        answer_release(&a);
    }
}

static void two_credentials_are_one_too_many(void **state)
{
    struct call call = {
        .path = "/v2/models/tensor_scatter_add/infer",
        .headers = {"Authorization: Bearer open-sesame", "Authorization: Bearer hush-hush"},
        .body = sum,
        .size = sizeof(sum) - 1};
    struct answer a = fixture_call(*state, &call);

    expect_error(&a, 400, "INVALID_HEADER", "Authorization");
    answer_release(&a);
}

static void a_large_body_is_refused_before_it_is_sent(void **state)
{
    struct raw r = fixture_raw(*state);
    struct answer a;

    assert_true(raw_puts(&r, "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                             "Content-Length: 50000000\r\n\r\n"));
    assert_true(raw_read(&r, &a, false));
    expect_error(&a, 401, "UNAUTHENTICATED", "");
    answer_release(&a);
    raw_close(&r);
}

static void what_there_is_is_not_told_without_a_token(void **state)
{
    struct call call = {
        .path = "/v2/models/no_such_op/infer", .body = sum, .size = sizeof(sum) - 1};
    struct answer a = fixture_call(*state, &call);

    expect_error(&a, 401, "UNAUTHENTICATED", "");
    answer_release(&a);
}

/* A browser asks without credentials whether it may send them. */
static void a_preflight_needs_no_token(void **state)
{
    static const char path[] = "/v2/models/tensor_scatter_add/infer";
    struct answer a = fixture_call(
        *state, &(struct call){
                    .method = "OPTIONS", .path = path, .headers = {"Origin: https://a.example"}});

    assert_int_equal(a.status, 204);
    expect_header(&a, "Allow", "POST, OPTIONS");
    answer_release(&a);
}

static void health_metrics_and_info_are_open(void **state)
{
    expect_get(*state, "/v2/health/ready", NULL, 200);
    expect_get(*state, "/livez", NULL, 200);
    expect_get(*state, "/metrics", NULL, 200);
    expect_get(*state, "/v2", NULL, 200);
    expect_get(*state, "/v2/models/scatter_nd", NULL, 200);
}

static void the_description_says_that_tokens_are_needed(void **state)
{
    struct call call = {.path = "/openapi.json"};
    struct answer a = fixture_call(*state, &call);

    assert_non_null(strstr(a.body, "\"securitySchemes\":{\"bearer\":"));
    answer_release(&a);
}

static void info_and_metrics_can_be_protected(void **state)
{
    static const char *const paths[] = {"/v2", "/v2/models/scatter_nd", "/v2/models/stats",
                                        "/openapi.json"};

    expect_get(*state, "/v2/health/ready", NULL, 200);
    expect_get(*state, "/v2/models/scatter_nd/ready", NULL, 200);
    expect_get(*state, "/metrics", NULL, 200);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        expect_get(*state, paths[i], NULL, 401);
        expect_get(*state, paths[i], "Authorization: Bearer open-sesame", 200);
    }
    expect_get(*state, "/nowhere", NULL, 401);
    expect_get(*state, "/nowhere", "Authorization: Bearer open-sesame", 404);
}

static int start_metrics(void **state)
{
    return start_with(state, "--protect_metrics=true");
}

static void metrics_alone_can_be_protected(void **state)
{
    expect_get(*state, "/metrics", NULL, 401);
    expect_get(*state, "/metrics", "Authorization: Bearer hush-hush", 200);
    expect_get(*state, "/v2", NULL, 200);
}

static void requests_beyond_the_rate_are_refused(void **state)
{
    struct answer a;

    for (int i = 0; i < 3; i++)
        expect_status(*state, "Authorization: Bearer three-an-hour", 200);
    a = compute(*state, "Authorization: Bearer three-an-hour");
    expect_error(&a, 429, "QUOTA_EXCEEDED", "slow");
    assert_in_range(atoi(answer_header(&a, "Retry-After")), 1100, 1200);
    answer_release(&a);
    expect_status(*state, "Authorization: Bearer open-sesame", 200);
}

static void bytes_beyond_the_quota_are_refused(void **state)
{
    struct answer a;

    expect_status(*state, "Authorization: Bearer little-by-little", 200);
    a = compute(*state, "Authorization: Bearer little-by-little");
    expect_error(&a, 429, "QUOTA_EXCEEDED", "bytes");
    assert_non_null(answer_header(&a, "Retry-After"));
    answer_release(&a);
}

static void tokens_are_rotated(void **state)
{
    struct fixture *f = *state;

    assert_true(write_tokens("alice:open-barley\nslow:three-an-hour rate=3/h\n"));
    expect_status(f, "Authorization: Bearer open-sesame", 200);
    reload(f, 1);
    expect_status(f, "Authorization: Bearer open-sesame", 401);
    expect_status(f, "Authorization: Bearer hush-hush", 401);
    expect_status(f, "Authorization: Bearer open-barley", 200);
    /* A quota that was used up before stays used up. */
    expect_status(f, "Authorization: Bearer three-an-hour", 429);
}

static void a_wrong_file_changes_nothing(void **state)
{
    struct fixture *f = *state;

    assert_true(write_tokens("carol:swordfish\nmallory:in the middle\n"));
    reload(f, 2);
    assert_true(server_says(&f->server, "tokens, line 2", 1));
    expect_status(f, "Authorization: Bearer open-barley", 200);
    expect_status(f, "Authorization: Bearer swordfish", 401);
}

static void the_log_names_tokens_and_tells_none(void **state)
{
    static const char *const secrets[] = {"sesame",      "hush",   "three-an-hour", "little-by",
                                          "open-barley", "swordf", "fbdc0774"};
    struct fixture *f = *state;
    char *log;

    assert_true(server_says(&f->server, "\"token\":\"alice\"", 1));
    assert_true(server_says(&f->server, "\"token\":\"bob\"", 1));
    log = server_log(&f->server);
    assert_non_null(log);
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
        if (strstr(log, secrets[i]) != NULL)
            fail_msg("the log tells %s", secrets[i]);
    free(log);
}

int main(void)
{
    /* In this order: quotas are used up, then tokens change. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_has_a_token_may_compute),
        cmocka_unit_test(who_has_none_or_a_wrong_one_may_not),
        cmocka_unit_test(two_credentials_are_one_too_many),
        cmocka_unit_test(a_large_body_is_refused_before_it_is_sent),
        cmocka_unit_test(what_there_is_is_not_told_without_a_token),
        cmocka_unit_test(health_metrics_and_info_are_open),
        cmocka_unit_test(the_description_says_that_tokens_are_needed),
        cmocka_unit_test(requests_beyond_the_rate_are_refused),
        cmocka_unit_test(bytes_beyond_the_quota_are_refused),
        cmocka_unit_test(tokens_are_rotated),
        cmocka_unit_test(a_wrong_file_changes_nothing),
        cmocka_unit_test(the_log_names_tokens_and_tells_none),
    };
    const struct CMUnitTest protected_tests[] = {
        cmocka_unit_test(info_and_metrics_can_be_protected),
        cmocka_unit_test(a_preflight_needs_no_token),
    };
    const struct CMUnitTest metrics_tests[] = {
        cmocka_unit_test(metrics_alone_can_be_protected),
    };

    return cmocka_run_group_tests_name("tokens", tests, start, stop) +
           cmocka_run_group_tests_name("protect_info", protected_tests, start_protected, stop) +
           cmocka_run_group_tests_name("protect_metrics", metrics_tests, start_metrics, stop);
}
