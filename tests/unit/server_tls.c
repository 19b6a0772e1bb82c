/* tls: files become credentials, or a sentence that names the file; sessions keep theirs. */
#include "server/net/tls.h"
#include "tests/support/http/pki.h"

#include <gnutls/gnutls.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct tls_wire wire = {.fd = -1};

enum { DAY = 24 * 60 * 60 };

static struct pki pki;
static struct tls tls;
static struct error error;
static char one_pem[PKI_PATH_MAX], one_key[PKI_PATH_MAX], two_pem[PKI_PATH_MAX],
    two_key[PKI_PATH_MAX], text[PKI_PATH_MAX], nowhere[PKI_PATH_MAX];

static int make_files(void **state)
{
    static const char *const names[] = {"one", "two"};
    (void)state;
    if (!pki_open(&pki))
        return -1;
    for (int i = 0; i < 2; i++) {
        struct identity *made = pki_issue(&pki, names[i], PKI_SERVER, NULL, 0, DAY);
        if (!made)
            return -1;
        identity_free(made);
    }
    pki_path(&pki, "one.pem", one_pem);
    pki_path(&pki, "one.key", one_key);
    pki_path(&pki, "two.pem", two_pem);
    pki_path(&pki, "two.key", two_key);
    pki_path(&pki, "text", text);
    pki_path(&pki, "nowhere", nowhere);
    return pki_write(&pki, "text", "no PEM\n", 7) ? 0 : -1;
}

static int remove_files(void **state)
{
    (void)state;
    pki_close(&pki);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    tls_init(&tls);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tls_release(&tls);
    return 0;
}

static enum error_code load(const char *certificate, const char *key, const char *client_ca)
{
    const struct tls_files files = {certificate, key, client_ca};
    return tls_load(&tls, &files, &error);
}

static void what_cannot_be_loaded_is_named(void **state)
{
    const struct {
        const char *certificate, *key, *client_ca, *named;
    } rows[] = {
        {nowhere, one_key, "", nowhere},
        {one_pem, nowhere, "", nowhere},
        {text, one_key, "", text},
        {one_pem, text, "", text},
        {one_pem, two_key, "", "does not belong"},
        {one_pem, one_key, nowhere, nowhere},
        {one_pem, one_key, text, text},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(load(rows[i].certificate, rows[i].key, rows[i].client_ca),
                         ERROR_INVALID_PARAMETER);
        if (!strstr(error.message, rows[i].named))
            fail_msg("'%s' lacks '%s'", error.message, rows[i].named);
        assert_null(tls.current);
    }
}

static void a_fault_keeps_what_was_there(void **state)
{
    (void)state;
    assert_int_equal(load(one_pem, one_key, ""), ERROR_NONE);
    const struct tls_credentials *before = tls.current;
    assert_non_null(before);
    assert_int_equal(load(one_pem, two_key, ""), ERROR_INVALID_PARAMETER);
    assert_ptr_equal(tls.current, before);
    assert_int_equal(load(two_pem, two_key, one_pem), ERROR_NONE);
    assert_ptr_not_equal(tls.current, before);
}

static void a_session_keeps_its_credentials(void **state)
{
    gnutls_session_t first, second;
    (void)state;
    assert_int_equal(gnutls_init(&first, GNUTLS_SERVER), 0);
    assert_int_equal(gnutls_init(&second, GNUTLS_SERVER), 0);
    assert_int_equal(load(one_pem, one_key, ""), ERROR_NONE);
    struct tls_credentials *a = tls_attach(&tls, first, &wire);
    assert_int_equal(load(two_pem, two_key, ""), ERROR_NONE);
    struct tls_credentials *b = tls_attach(&tls, second, &wire);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    assert_int_equal(tls_check_client(a, first, &error), ERROR_NONE);
    tls_detach(&tls, a);
    tls_detach(&tls, b);
    gnutls_deinit(first);
    gnutls_deinit(second);
}

static void without_credentials_there_is_no_session(void **state)
{
    gnutls_session_t session;
    (void)state;
    assert_int_equal(gnutls_init(&session, GNUTLS_SERVER), 0);
    assert_null(tls_attach(&tls, session, &wire));
    tls_detach(&tls, NULL);
    gnutls_deinit(session);
}

static void a_client_that_shows_nothing_is_forbidden(void **state)
{
    gnutls_session_t session;
    (void)state;
    assert_int_equal(gnutls_init(&session, GNUTLS_SERVER), 0);
    assert_int_equal(load(one_pem, one_key, two_pem), ERROR_NONE);
    struct tls_credentials *credentials = tls_attach(&tls, session, &wire);
    assert_non_null(credentials);
    assert_int_equal(tls_check_client(credentials, session, &error), ERROR_FORBIDDEN);
    tls_detach(&tls, credentials);
    gnutls_deinit(session);
}

static void the_priorities_are_what_gnutls_takes(void **state)
{
    gnutls_priority_t made;
    (void)state;
    assert_int_equal(gnutls_priority_init(&made, tls_priorities, NULL), 0);
    gnutls_priority_deinit(made);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_cannot_be_loaded_is_named),
        TEST(a_fault_keeps_what_was_there),
        TEST(a_session_keeps_its_credentials),
        TEST(without_credentials_there_is_no_session),
        TEST(a_client_that_shows_nothing_is_forbidden),
        TEST(the_priorities_are_what_gnutls_takes),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
