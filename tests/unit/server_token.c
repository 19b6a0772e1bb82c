/* token, client, digest: a file becomes a list, a header becomes somebody, and no fault tells a
 * token. */
#include "server/access/token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* printf %s hush | sha256sum */
#define HUSH "dc8331bcb2283e89d275a1c2fe66f7bf5ac3163ec1967f149dd7e27906365f0c"

struct fixture {
    struct clients clients;
    struct tokens tokens;
    char path[64];
};

static struct fixture f;
static struct error error;

static int set_up(void **state)
{
    (void)state;
    clients_init(&f.clients, 1000);
    tokens_init(&f.tokens, &f.clients);
    strcpy(f.path, "/tmp/server_token.XXXXXX");
    int fd = mkstemp(f.path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    tokens_release(&f.tokens);
    clients_release(&f.clients); /* asserts that nobody is left */
    return unlink(f.path);
}

static enum error_code load(const char *text)
{
    FILE *file = fopen(f.path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return tokens_load(&f.tokens, f.path, &error);
}

/* Whose the header is; NULL for nobody's. */
static const char *who(const char *authorization)
{
    static char name[CLIENT_NAME_MAX];
    struct bearer bearer;
    if (tokens_find(&f.tokens, authorization, &bearer, &error) != ERROR_NONE) {
        assert_int_equal(error.code, ERROR_UNAUTHENTICATED);
        assert_null(bearer.client);
        return NULL;
    }
    strcpy(name, bearer.client->name);
    bearer_leave(&bearer, &f.clients);
    return name;
}

static void the_digest_is_sha_256(void **state)
{
    uint8_t made[DIGEST_BYTES], read[DIGEST_BYTES];
    (void)state;
    assert_true(digest_of(made, "abc", 3));
    assert_true(
        digest_parse(read, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015AD"));
    assert_true(digest_equal(made, read));
    for (int i = 0; i < DIGEST_BYTES; i++) {
        read[i] ^= 1;
        assert_false(digest_equal(made, read));
        read[i] ^= 1;
    }
}

static void tokens_are_found_plain_and_hashed(void **state)
{
    char text[256];
    (void)state;
    snprintf(text, sizeof text,
             "# comment\n\nalice:open-sesame\r\n  bob:sha256:" HUSH
             " rate=100/s bytes=10M/s\ncarol:p:a:s:s");
    assert_int_equal(load(text), ERROR_NONE);
    assert_string_equal(who("Bearer open-sesame"), "alice");
    assert_string_equal(who("bEARER   hush"), "bob");
    assert_string_equal(who("Bearer p:a:s:s"), "carol");
}

static void other_headers_are_nobodys(void **state)
{
    static const char *const headers[] = {NULL,
                                          "",
                                          "Bearer",
                                          "Bearer ",
                                          "Bearer open-sesam",
                                          "Bearer open-sesame ",
                                          "Bearer open-sesame,",
                                          "Bearer OPEN-SESAME",
                                          "Bearer " HUSH,
                                          "Bearer sha256:" HUSH,
                                          "Basic open-sesame",
                                          "open-sesame",
                                          "Bearer\topen-sesame"};
    (void)state;
    assert_int_equal(load("alice:open-sesame\nbob:sha256:" HUSH "\n"), ERROR_NONE);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        assert_null(who(headers[i]));
        assert_null(strstr(error.message, "sesam"));
    }
}

static void limits_come_with_the_token(void **state)
{
    struct bearer bearer;
    (void)state;
    assert_int_equal(load("a:one rate=3/m \t bytes=2K/s\nb:two\n"), ERROR_NONE);
    assert_int_equal(tokens_find(&f.tokens, "Bearer one", &bearer, &error), ERROR_NONE);
    assert_int_equal(bearer.requests.amount, 3);
    assert_int_equal(bearer.bytes.amount, 2048);
    bearer_leave(&bearer, &f.clients);
    assert_int_equal(tokens_find(&f.tokens, "Bearer two", &bearer, &error), ERROR_NONE);
    assert_int_equal(bearer.requests.amount, 0);
    bearer_leave(&bearer, &f.clients);
}

static void faults_say_the_line_and_never_the_token(void **state)
{
    static const char *const lines[] = {
        "swordfish",
        ":swordfish",
        "two words:swordfish",
        "name:",
        "name:sword\x01"
        "fish",
        "name:swordfish x",
        "name:swordfish rate=0/s",
        "name:swordfish rate=1/d",
        "name:swordfish bytes=",
        "name:sha256:swordfish",
        "name:sha256:" HUSH "0",
        "first:swordfish",
        "name:other",
        "name:swordfish rate=5",
        "na/me:swordfish",
    };
    (void)state;
    assert_int_equal(load("old:still-here\n"), ERROR_NONE);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[512];
        snprintf(text, sizeof text, "first:other\n\n%s\n", lines[i]);
        assert_int_equal(load(text), ERROR_INVALID_PARAMETER);
        if (!strstr(error.message, ", line 3: ") || strstr(error.message, "swordfish"))
            fail_msg("'%s': %s", lines[i], error.message);
        assert_string_equal(who("Bearer still-here"), "old");
        assert_null(who("Bearer other"));
    }
}

static void the_faults_of_all_lines_are_told(void **state)
{
    char sentence[256], text[4096] = "";
    (void)state;
    assert_int_equal(load("a:hush\n:x\n# fine\nb:\nc:right\na:other\n"), ERROR_INVALID_PARAMETER);
    snprintf(sentence, sizeof sentence,
             "%s, line 2: allowed is name:token or name:sha256:<64 hex>, the name of 1 to 64 "
             "letters, digits, '.', '_' and '-'; line 4: the token is empty; line 6: the name is "
             "there twice",
             f.path);
    assert_string_equal(error.message, sentence);
    assert_null(who("Bearer right"));

    for (int i = 0; i < 200; i++)
        strcat(text, "b:\n");
    assert_int_equal(load(text), ERROR_INVALID_PARAMETER);
    size_t size = strlen(error.message);
    assert_true(size < sizeof error.message && size > sizeof error.message - 40);
    assert_string_equal(error.message + size - 5, "; ...");
    assert_null(strstr(error.message, "line 200"));
}

static void names_and_lines_have_limits(void **state)
{
    char text[4096];
    (void)state;
    memset(text, 'n', 65);
    strcpy(text + 64, ":token\n");
    assert_int_equal(load(text), ERROR_NONE);
    memset(text, 'n', 65);
    strcpy(text + 65, ":token\n");
    assert_int_equal(load(text), ERROR_INVALID_PARAMETER);
    memset(text, 'x', 2000);
    memcpy(text, "a:", 2);
    strcpy(text + 2000, "\n");
    assert_int_equal(load(text), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "line 1: a line has"));
}

static void no_file_and_no_token_are_faults(void **state)
{
    (void)state;
    assert_int_equal(tokens_load(&f.tokens, "/nowhere/tokens", &error), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "/nowhere/tokens"));
    assert_int_equal(load("# nobody\n"), ERROR_INVALID_PARAMETER);
    assert_int_equal(tokens_load(&f.tokens, "/tmp", &error), ERROR_INVALID_PARAMETER);
}

static void the_number_of_tokens_is_bounded(void **state)
{
    FILE *file = fopen(f.path, "w");
    (void)state;
    for (int i = 0; i < TOKENS_MAX; i++)
        fprintf(file, "n%d:t%d\n", i, i);
    fflush(file);
    assert_int_equal(tokens_load(&f.tokens, f.path, &error), ERROR_NONE);
    assert_string_equal(who("Bearer t0"), "n0");
    assert_string_equal(who("Bearer t1023"), "n1023");
    fputs("more:more\n", file);
    fclose(file);
    assert_int_equal(tokens_load(&f.tokens, f.path, &error), ERROR_INVALID_PARAMETER);
}

static void a_name_keeps_its_client_over_a_reload(void **state)
{
    struct bearer before, after;
    (void)state;
    assert_int_equal(load("alice:one\n"), ERROR_NONE);
    assert_int_equal(tokens_find(&f.tokens, "Bearer one", &before, &error), ERROR_NONE);
    assert_int_equal(load("alice:two\n"), ERROR_NONE);
    assert_null(who("Bearer one"));
    assert_int_equal(tokens_find(&f.tokens, "Bearer two", &after, &error), ERROR_NONE);
    assert_ptr_equal(before.client, after.client);
    assert_int_equal(load("bob:three\n"), ERROR_NONE); /* alice goes when her requests are over */
    assert_string_equal(before.client->name, "alice");
    bearer_leave(&before, &f.clients);
    bearer_leave(&after, &f.clients);
}

static void clients_of_one_name_and_kind_are_one(void **state)
{
    struct client *a = clients_enter(&f.clients, CLIENT_ADDRESS, "192.0.2.1");
    struct client *b = clients_enter(&f.clients, CLIENT_ADDRESS, "192.0.2.1");
    struct client *c = clients_enter(&f.clients, CLIENT_ADDRESS, "192.0.2.2");
    struct client *d = clients_enter(&f.clients, CLIENT_TOKEN, "192.0.2.1");
    (void)state;
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_ptr_not_equal(a, d);
    assert_true(budget_reserve(&a->share, 1000, true));
    assert_false(budget_reserve(&a->share, 1, true));
    budget_give_back(&a->share, 1000);
    clients_leave(&f.clients, a);
    clients_leave(&f.clients, b);
    clients_leave(&f.clients, c);
    clients_leave(&f.clients, d);
    clients_leave(&f.clients, NULL);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_digest_is_sha_256),
        TEST(tokens_are_found_plain_and_hashed),
        TEST(other_headers_are_nobodys),
        TEST(limits_come_with_the_token),
        TEST(faults_say_the_line_and_never_the_token),
        TEST(the_faults_of_all_lines_are_told),
        TEST(names_and_lines_have_limits),
        TEST(no_file_and_no_token_are_faults),
        TEST(the_number_of_tokens_is_bounded),
        TEST(a_name_keeps_its_client_over_a_reload),
        TEST(clients_of_one_name_and_kind_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
