/* cors: which origins are allowed, and what they are told. */
#include "server/access/cors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void an_origin_is_allowed_exactly(void **state)
{
    static const char origins[] = "https://app.example, http://localhost:3000";
    static const char *const others[] = {"https://app.example.evil",
                                         "https://app.exampl",
                                         "null",
                                         "http://app.example",
                                         "http://localhost",
                                         "",
                                         "https://app.example, http://localhost:3000"};
    (void)state;
    assert_string_equal(cors_allow(origins, "https://app.example"), "https://app.example");
    assert_string_equal(cors_allow(origins, "http://localhost:3000"), "http://localhost:3000");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(cors_allow(origins, others[i]));
    assert_null(cors_allow(origins, NULL));
    assert_true(cors_varies(origins));
}

static void a_star_allows_all(void **state)
{
    (void)state;
    assert_string_equal(cors_allow("*", "https://anybody.example"), "*");
    assert_null(cors_allow("*", NULL));
    assert_false(cors_varies("*"));
}

static void nothing_allows_nobody(void **state)
{
    (void)state;
    assert_null(cors_allow("", "https://app.example"));
    assert_null(cors_allow("", ""));
    assert_false(cors_varies(""));
}

static void what_is_no_origin_is_named(void **state)
{
    static const char *const wrong[] = {"app.example",       "https://app.example/",
                                        "https://",          "://app",
                                        "https://*.example", "https://a.example, *"};
    struct error error;
    (void)state;
    assert_int_equal(cors_check("", &error), ERROR_NONE);
    assert_int_equal(cors_check("*", &error), ERROR_NONE);
    assert_int_equal(cors_check("https://a.example,http://[::1]:80", &error), ERROR_NONE);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(cors_check(wrong[i], &error), ERROR_INVALID_PARAMETER);
        assert_non_null(strstr(error.message, "is no origin"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_origin_is_allowed_exactly),
        cmocka_unit_test(a_star_allows_all),
        cmocka_unit_test(nothing_allows_nobody),
        cmocka_unit_test(what_is_no_origin_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
