/* Who may use which kept tensors: tokens by name, and web pages by origin. */
#include "tests/support/http/fixture.h"
#include "tests/support/http/pki.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS                                                                                     \
    "alice:aaaaaaaa tensors=alice-* tensors=shared:ro tensor_bytes=1K tensor_count=2\n"            \
    "admin:bbbbbbbb tensors=*\n"                                                                   \
    "none:cccccccc\n"

static const char alice[] = "Authorization: Bearer aaaaaaaa";
static const char admin[] = "Authorization: Bearer bbbbbbbb";
static const char none[] = "Authorization: Bearer cccccccc";
static const char json_type[] = "Content-Type: application/json";
static const char small[] = "{'datatype':'INT8','shape':[4]}";

static struct pki pki;

static int start_tokens(void **state)
{
    char path[PKI_PATH_MAX], tokens[PKI_PATH_MAX + 16];
    const char *settings[] = {tokens, NULL};
    if (!pki_open(&pki) || !pki_write(&pki, "tokens", TOKENS, strlen(TOKENS)))
        return -1;
    snprintf(tokens, sizeof(tokens), "--tokens=%s", pki_path(&pki, "tokens", path));
    return fixture_start_with(state, settings);
}

static int stop_tokens(void **state)
{
    int status = fixture_stop(state);
    pki_close(&pki);
    return status;
}

static struct answer ask(void **state, const char *who, const char *method, const char *path,
                         const char *header, const char *body)
{
    char *text = body ? quote(body) : NULL;
    struct answer a = fixture_call(*state, &(struct call){.method = method,
                                                          .path = path,
                                                          .headers = {who, json_type, header},
                                                          .body = text,
                                                          .size = text ? strlen(text) : 0});
    free(text);
    return a;
}

static void status(void **state, const char *who, const char *method, const char *path,
                   const char *header, const char *body, int expected)
{
    struct answer a = ask(state, who, method, path, header, body);
    if (a.status != expected)
        fail_msg("%s %s %s: %d instead of %d: %s", who, method, path, a.status, expected, a.body);
    if (expected == 403)
        expect_error(&a, 403, "FORBIDDEN", "");
    answer_release(&a);
}

#define GATHER "/v2/models/gather_nd/infer"
#define ADD    "/v2/models/tensor_scatter_add/infer"

static void a_token_uses_the_names_that_it_has(void **state)
{
    static const char pick[] = "{'inputs':{'indices':[[0]]}}";
    static const char plus[] = "{'inputs':{'indices':[[0]],'updates':[1]}}";
    status(state, "X: y", "GET", "/v2/tensors", NULL, NULL, 401);
    status(state, admin, "PUT", "/v2/tensors/shared", NULL, small, 201);
    status(state, admin, "PUT", "/v2/tensors/secret", NULL, small, 201);
    status(state, alice, "PUT", "/v2/tensors/alice-1", NULL, small, 201);

    status(state, alice, "PUT", "/v2/tensors/shared", NULL, small, 403);
    status(state, alice, "DELETE", "/v2/tensors/shared", NULL, NULL, 403);
    status(state, alice, "PATCH", "/v2/tensors/shared", NULL, "{'ttl':'1h'}", 403);
    status(state, alice, "PUT", "/v2/tensors/shared/data?rows=0:1", NULL, small, 403);
    status(state, alice, "PUT", "/v2/tensors/alice-1?move=shared", NULL, NULL, 403);
    status(state, alice, "PUT", "/v2/tensors/shared?move=alice-1", NULL, NULL, 403);
    status(state, alice, "POST", GATHER "?tensor=shared", NULL, pick, 200);
    status(state, alice, "POST", ADD "?tensor=shared&into=shared", NULL, plus, 403);
    status(state, alice, "GET", "/v2/tensors/shared/data", NULL, NULL, 200);

    /* A name that a token may not read is forbidden, whether it exists or not. */
    status(state, alice, "GET", "/v2/tensors/secret", NULL, NULL, 403);
    status(state, alice, "GET", "/v2/tensors/nothing", NULL, NULL, 403);
    status(state, alice, "GET", "/v2/tensors/secret/data", NULL, NULL, 403);
    status(state, alice, "POST", GATHER "?tensor=secret", NULL, pick, 403);
    status(state, alice, "POST", GATHER "?tensor=nothing", NULL, pick, 403);
    status(state, alice, "POST", GATHER, NULL,
           "{'inputs':{'params':[1],'indices':{'tensor':'secret'}}}", 403);
    status(state, alice, "POST", "/v2/tensors/secret/snapshot", NULL, NULL, 403);

    /* Where some tokens have names, a token without a list of names may use none. */
    status(state, none, "GET", "/v2/tensors/shared", NULL, NULL, 403);
    struct answer a = ask(state, none, "GET", "/v2/tensors", NULL, NULL);
    expect_part(&a, "\"tensors\":[],\"next\":null}");
    answer_release(&a);
    a = ask(state, alice, "GET", "/v2/tensors", NULL, NULL);
    expect_part(&a, "\"alice-1\"");
    expect_part(&a, "\"shared\"");
    assert_null(strstr(a.body, "secret"));
    answer_release(&a);
    a = ask(state, alice, "GET", "/v2/systemsharedmemory/status", NULL, NULL);
    assert_null(strstr(a.body, "secret"));
    answer_release(&a);
    status(state, admin, "DELETE", "/v2/tensors/shared", NULL, NULL, 204);
    status(state, admin, "DELETE", "/v2/tensors/secret", NULL, NULL, 204);
    status(state, alice, "DELETE", "/v2/tensors/alice-1", NULL, NULL, 204);
}

static void a_token_keeps_no_more_than_it_may(void **state)
{
    status(state, alice, "PUT", "/v2/tensors/alice-1", NULL, "{'datatype':'INT8','shape':[900]}",
           201);
    status(state, alice, "PUT", "/v2/tensors/alice-2", NULL, "{'datatype':'INT8','shape':[200]}",
           507);
    status(state, alice, "PUT", "/v2/tensors/alice-2", NULL, "{'datatype':'INT8','shape':[100]}",
           201);
    status(state, alice, "PUT", "/v2/tensors/alice-3", NULL, "{'datatype':'INT8','shape':[1]}",
           507);
    status(state, alice, "DELETE", "/v2/tensors/alice-1", NULL, NULL, 204);
    status(state, alice, "PUT", "/v2/tensors/alice-3", NULL, "{'datatype':'INT8','shape':[900]}",
           201);
    status(state, alice, "DELETE", "/v2/tensors/alice-2", NULL, NULL, 204);
    status(state, alice, "DELETE", "/v2/tensors/alice-3", NULL, NULL, 204);
}

/* The answer to a write is not given to another token that uses the same key. */
static void a_key_is_its_tokens(void **state)
{
    static const char body[] = "{'inputs':{'indices':[[0]],'updates':[1]}}";
    status(state, admin, "PUT", "/v2/tensors/alice-k", NULL, small, 201);
    status(state, admin, "POST", ADD "?tensor=alice-k&into=alice-k", "Idempotency-Key: k", body,
           200);
    struct answer a =
        ask(state, alice, "POST", ADD "?tensor=alice-k&into=alice-k", "Idempotency-Key: k", body);
    assert_int_equal(a.status, 200);
    expect_header(&a, "Idempotent-Replayed", NULL);
    answer_release(&a);
    status(state, admin, "DELETE", "/v2/tensors/alice-k", NULL, NULL, 204);
}

/* -------------------------------------------------------------------------------------- pages */

static int start_shared(void **state)
{
    static const char *const settings[] = {"--cors_origins=https://app.example",
                                           "--server_names=tensors.local", NULL};
    return fixture_start_with(state, settings);
}

static void a_page_changes_nothing_unless_it_is_ours(void **state)
{
    struct fixture *f = *state;
    char own[64];
    snprintf(own, sizeof own, "Origin: http://127.0.0.1:%d", f->server.port);
    const struct {
        const char *header;
        bool may;
    } rows[] = {{"Origin: https://app.example", true},   {own, true},
                {"Origin: https://evil.example", false}, {"Origin: null", false},
                {"Origin: http://127.0.0.1:1", false},   {"Sec-Fetch-Site: cross-site", false},
                {"Sec-Fetch-Site: same-site", false},    {"Sec-Fetch-Site: same-origin", true},
                {"Sec-Fetch-Site: none", true},          {"X: y", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        status(state, "A: b", "PUT", "/v2/tensors/p", NULL, small, 201);
        status(state, rows[i].header, "PUT", "/v2/tensors/p", NULL, small, rows[i].may ? 200 : 403);
        status(state, rows[i].header, "PATCH", "/v2/tensors/p", NULL, "{'ttl':null}",
               rows[i].may ? 200 : 403);
        /* The body alone may say where the result goes. */
        status(state, rows[i].header, "POST", ADD, NULL,
               "{'inputs':{'indices':[[0]],'updates':[1]},"
               "'parameters':{'tensor':'p','into':'p'}}",
               rows[i].may ? 200 : 403);
        status(state, rows[i].header, "GET", "/v2/tensors/p/data", NULL, NULL, 200);
        status(state, rows[i].header, "DELETE", "/v2/tensors/p", NULL, NULL,
               rows[i].may ? 204 : 403);
        status(state, "A: b", "DELETE", "/v2/tensors/p", NULL, NULL, rows[i].may ? 404 : 204);
    }
}

static void over_loopback_the_name_is_ours(void **state)
{
    static const struct {
        const char *host;
        bool may;
    } rows[] = {{"Host: localhost", true},     {"Host: localhost:8080", true},
                {"Host: 127.0.0.1:80", true},  {"Host: [::1]:80", true},
                {"Host: tensors.local", true}, {"Host: TENSORS.local:80", true},
                {"Host: evil.example", false}, {"Host: localhost.evil.example", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int expected = rows[i].may ? 200 : 403;
        status(state, "A: b", "PUT", "/v2/tensors/p", NULL, small, 201);
        status(state, rows[i].host, "PUT", "/v2/tensors/p", NULL, small, expected);
        status(state, rows[i].host, "GET", "/v2/tensors/p", NULL, NULL, expected);
        status(state, rows[i].host, "GET", "/v2/tensors", NULL, NULL, expected);
        status(state, rows[i].host, "GET", "/v2/tensors/p/data", NULL, NULL, expected);
        status(state, rows[i].host, "POST", GATHER "?tensor=p", NULL,
               "{'inputs':{'indices':[[0]]}}", expected);
        /* A request that uses no kept tensor is allowed from anywhere. */
        status(state, rows[i].host, "POST", GATHER, NULL,
               "{'inputs':{'params':[1],'indices':[[0]]}}", 200);
        status(state, "A: b", "DELETE", "/v2/tensors/p", NULL, NULL, 204);
    }
}

static void pages_are_told_what_they_may_send_and_read(void **state)
{
    struct answer a =
        ask(state, "Origin: https://app.example", "OPTIONS", "/v2/tensors/p", NULL, NULL);
    assert_int_equal(a.status, 204);
    expect_header(&a, "Allow", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS");
    expect_header(&a, "Access-Control-Allow-Methods", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS");
    static const char *const allowed[] = {"If-Match", "If-None-Match", "Idempotency-Key"};
    static const char *const exposed[] = {"ETag", "Idempotent-Replayed", "Error-Code"};
    for (int i = 0; i < 3; i++) {
        assert_non_null(strstr(answer_header(&a, "Access-Control-Allow-Headers"), allowed[i]));
        assert_non_null(strstr(answer_header(&a, "Access-Control-Expose-Headers"), exposed[i]));
    }
    answer_release(&a);
    /* Every answer about a tensor says that it varies with the origin, 304 and errors included. */
    static const char page[] = "Origin: https://app.example";
    static const struct {
        const char *path, *condition;
        int status;
    } rows[] = {{"/v2/tensors/p", NULL, 200},
                {"/v2/tensors/p/data", NULL, 200},
                {"/v2/tensors/p/data", "If-None-Match: *", 304},
                {"/v2/tensors/none", NULL, 404}};
    status(state, "A: b", "PUT", "/v2/tensors/p", NULL, small, 201);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        a = ask(state, page, "GET", rows[i].path, rows[i].condition, NULL);
        assert_int_equal(a.status, rows[i].status);
        expect_header(&a, "Access-Control-Allow-Origin", "https://app.example");
        assert_int_equal(answer_header_count(&a, "Vary"), 2);
        answer_release(&a);
    }
    a = ask(state, "A: b", "DELETE", "/v2/tensors/p", NULL, NULL);
    assert_int_equal(a.status, 204);
    answer_release(&a);
}

/* ------------------------------------------------------------------------------- without them */

static int start_without(void **state)
{
    static const char *const settings[] = {"--tensor_memory=0", NULL};
    return fixture_start_with(state, settings);
}

static void a_server_that_keeps_none_says_so(void **state)
{
    static const struct {
        const char *method, *path, *body;
    } rows[] = {{"PUT", "/v2/tensors/a", small},
                {"GET", "/v2/tensors/a", NULL},
                {"GET", "/v2/tensors/a/data", NULL},
                {"DELETE", "/v2/tensors/a", NULL},
                {"GET", "/v2/tensors", NULL},
                {"POST", GATHER "?tensor=a", "{'inputs':{'indices':[[0]]}}"},
                {"POST", "/v2/models/scatter_nd/infer?into=a",
                 "{'inputs':{'indices':[[0]],'updates':[1],'shape':[1]}}"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer a = ask(state, "A: b", rows[i].method, rows[i].path, NULL, rows[i].body);
        expect_error(&a, 501, "NOT_SUPPORTED", "tensor_memory");
        answer_release(&a);
    }
    struct answer a = ask(state, "A: b", "GET", "/v2", NULL, NULL);
    assert_null(strstr(a.body, "resident_tensors"));
    answer_release(&a);
}

static int start_in_url(void **state)
{
    static const char *const settings[] = {"--tensor_in_url=true", NULL};
    return fixture_start_with(state, settings);
}

static void a_balancer_sees_every_name(void **state)
{
    status(state, "A: b", "PUT", "/v2/tensors/a", NULL, small, 201);
    status(state, "A: b", "POST", GATHER "?tensor=a", NULL, "{'inputs':{'indices':[[0]]}}", 200);
    struct answer a = ask(state, "A: b", "POST", GATHER, NULL,
                          "{'inputs':{'indices':[[0]]},'parameters':{'tensor':'a'}}");
    expect_error(&a, 400, "INVALID_PARAMETER", "tensor_in_url");
    answer_release(&a);
    a = ask(state, "A: b", "GET", "/v2", NULL, NULL);
    expect_part(&a, "\"resident_tensors\"");
    answer_release(&a);
}

int main(void)
{
    const struct CMUnitTest tokens[] = {
        cmocka_unit_test(a_token_uses_the_names_that_it_has),
        cmocka_unit_test(a_token_keeps_no_more_than_it_may),
        cmocka_unit_test(a_key_is_its_tokens),
    };
    const struct CMUnitTest pages[] = {
        cmocka_unit_test(a_page_changes_nothing_unless_it_is_ours),
        cmocka_unit_test(over_loopback_the_name_is_ours),
        cmocka_unit_test(pages_are_told_what_they_may_send_and_read),
    };
    const struct CMUnitTest without[] = {cmocka_unit_test(a_server_that_keeps_none_says_so)};
    const struct CMUnitTest in_url[] = {cmocka_unit_test(a_balancer_sees_every_name)};
    return cmocka_run_group_tests_name("tokens", tokens, start_tokens, stop_tokens) +
           cmocka_run_group_tests_name("pages", pages, start_shared, fixture_stop) +
           cmocka_run_group_tests_name("without", without, start_without, fixture_stop) +
           cmocka_run_group_tests_name("in_url", in_url, start_in_url, fixture_stop);
}
