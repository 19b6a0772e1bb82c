/* access: which visitor may have which route, and what it holds afterwards. */
#include "server/access/access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct config config;
    struct access access;
    struct grant grant;
    char path[64];
};

static struct fixture f;
static struct error error;

static void set(const char *name, const char *value)
{
    assert_int_equal(config_set(&f.config, name, value, &error), ERROR_NONE);
}

static int set_up(void **state)
{
    (void)state;
    memset(&f, 0, sizeof f);
    config_init(&f.config);
    strcpy(f.path, "/tmp/server_access.XXXXXX");
    int fd = mkstemp(f.path);
    FILE *file = fdopen(fd, "w");
    fputs("alice:sesame\nslow:snail rate=1/h\nbig:whale bytes=1000/h\n", file);
    return fclose(file);
}

static int tear_down(void **state)
{
    (void)state;
    access_release(&f.access); /* asserts that every grant was given back */
    return unlink(f.path);
}

static void init(void)
{
    assert_int_equal(access_init(&f.access, &f.config, 1000, false, &error), ERROR_NONE);
}

static enum error_code ask_for(const char *authorization, enum route_kind kind, int64_t length)
{
    struct visitor visitor = {.authorization = authorization};
    assert_true(address_parse(&visitor.address, "192.0.2.1", 9));
    f.grant = (struct grant){.retry_after = 0};
    return access_ask(&f.access, &visitor, kind, length, &f.grant, &error);
}

static enum error_code ask(const char *authorization, enum route_kind kind)
{
    enum error_code code = ask_for(authorization, kind, 0);
    access_leave(&f.access, &f.grant, 0);
    return code;
}

static void without_tokens_everything_is_open(void **state)
{
    (void)state;
    set("protect_info", "true");
    set("protect_metrics", "true");
    init();
    for (enum route_kind kind = ROUTE_INFO; kind <= ROUTE_INFER; kind++)
        assert_int_equal(ask(NULL, kind), ERROR_NONE);
}

static void with_tokens_computing_is_closed_and_the_rest_if_protected(void **state)
{
    (void)state;
    set("tokens", f.path);
    init();
    assert_int_equal(ask(NULL, ROUTE_INFER), ERROR_UNAUTHENTICATED);
    assert_int_equal(ask("Bearer sesame", ROUTE_INFER), ERROR_NONE);
    assert_int_equal(ask(NULL, ROUTE_INFO), ERROR_NONE);
    assert_int_equal(ask(NULL, ROUTE_METRICS), ERROR_NONE);
    set("protect_info", "true");
    assert_int_equal(ask(NULL, ROUTE_INFO), ERROR_UNAUTHENTICATED);
    assert_int_equal(ask(NULL, ROUTE_METRICS), ERROR_NONE);
    set("protect_metrics", "true");
    assert_int_equal(ask(NULL, ROUTE_METRICS), ERROR_UNAUTHENTICATED);
    assert_int_equal(ask("Bearer sesame", ROUTE_METRICS), ERROR_NONE);
    assert_int_equal(ask(NULL, ROUTE_PROBE), ERROR_NONE);
}

static void the_name_is_known_while_the_grant_lasts(void **state)
{
    (void)state;
    set("tokens", f.path);
    init();
    assert_int_equal(ask_for("Bearer sesame", ROUTE_INFER, 0), ERROR_NONE);
    assert_string_equal(grant_token(&f.grant), "alice");
    assert_null(access_share(&f.access, &f.grant));
    access_leave(&f.access, &f.grant, 0);
    assert_null(grant_token(&f.grant));
}

static void a_used_up_rate_says_when_to_come_again(void **state)
{
    (void)state;
    set("tokens", f.path);
    init();
    assert_int_equal(ask("Bearer snail", ROUTE_INFER), ERROR_NONE);
    assert_int_equal(ask_for("Bearer snail", ROUTE_INFER, 0), ERROR_QUOTA_EXCEEDED);
    assert_in_range(f.grant.retry_after, 3590, 3600);
    assert_string_equal(grant_token(&f.grant), "slow");
    access_leave(&f.access, &f.grant, 0);
}

static void bytes_count_both_ways_and_once(void **state)
{
    (void)state;
    set("tokens", f.path);
    init();
    assert_int_equal(ask_for("Bearer whale", ROUTE_INFER, 300), ERROR_NONE);
    access_leave(&f.access, &f.grant, 500); /* 300 came, 200 went */
    assert_int_equal(ask_for("Bearer whale", ROUTE_INFER, -1), ERROR_NONE);
    access_leave(&f.access, &f.grant, 499);
    assert_int_equal(ask_for("Bearer whale", ROUTE_INFER, 700), ERROR_NONE);
    access_leave(&f.access, &f.grant, 0); /* left before it sent what it had announced */
    assert_int_equal(ask("Bearer whale", ROUTE_INFER), ERROR_QUOTA_EXCEEDED);
}

static void an_address_has_a_share_when_there_are_shares(void **state)
{
    (void)state;
    set("client_share", "25");
    init();
    assert_int_equal(ask_for(NULL, ROUTE_INFER, 0), ERROR_NONE);
    struct budget *share = access_share(&f.access, &f.grant);
    assert_non_null(share);
    assert_int_equal(share->limit, 250);
    assert_null(grant_token(&f.grant));
    access_leave(&f.access, &f.grant, 0);
    assert_int_equal(ask_for(NULL, ROUTE_INFO, 0), ERROR_NONE);
    assert_null(access_share(&f.access, &f.grant));
    access_leave(&f.access, &f.grant, 0);
}

static void a_token_has_a_share_of_its_own(void **state)
{
    (void)state;
    set("client_share", "50");
    set("tokens", f.path);
    init();
    assert_int_equal(ask_for("Bearer sesame", ROUTE_INFER, 0), ERROR_NONE);
    assert_int_equal(access_share(&f.access, &f.grant)->limit, 500);
    access_leave(&f.access, &f.grant, 0);
}

static void settings_that_cannot_be_are_named(void **state)
{
    static const struct {
        const char *name, *value, *sentence;
    } rows[] = {
        {"tls_cert", "/nowhere.pem", "must be set together"},
        {"tls_key", "/nowhere.key", "must be set together"},
        {"tls_client_ca", "/nowhere.pem", "must be set together"},
        {"listen", "tls:127.0.0.1:0", "needs tls_cert and tls_key"},
        {"tokens", "/nowhere", "cannot read /nowhere"},
        {"trusted_proxies", "10.0.0.0/64", "trusted_proxies: 10.0.0.0/64"},
        {"cors_origins", "example.org", "cors_origins: example.org"},
        {"base_path", "x", "base_path is x"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        config_init(&f.config);
        set(rows[i].name, rows[i].value);
        assert_int_equal(access_check(&f.config, &error), ERROR_INVALID_PARAMETER);
        if (!strstr(error.message, rows[i].sentence))
            fail_msg("'%s' lacks '%s'", error.message, rows[i].sentence);
    }
}

static void only_a_plain_public_listener_without_tokens_is_open(void **state)
{
    static const struct {
        struct listener listener;
        bool open;
    } rows[] = {
        {{.is_loopback = false}, true},
        {{.is_loopback = true}, false},
        {{.is_unix = true}, false},
        {{.is_tls = true}, false},
    };
    (void)state;
    init();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(access_is_open(&f.access, &rows[i].listener), rows[i].open);
    set("tokens", f.path);
    assert_false(access_is_open(&f.access, &rows[0].listener));
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_tokens_everything_is_open),
        TEST(with_tokens_computing_is_closed_and_the_rest_if_protected),
        TEST(the_name_is_known_while_the_grant_lasts),
        TEST(a_used_up_rate_says_when_to_come_again),
        TEST(bytes_count_both_ways_and_once),
        TEST(an_address_has_a_share_when_there_are_shares),
        TEST(a_token_has_a_share_of_its_own),
        TEST(settings_that_cannot_be_are_named),
        TEST(only_a_plain_public_listener_without_tokens_is_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
