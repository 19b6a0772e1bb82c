/* request_id: echoed when it is sane, else made. */
#include "server/http/request_id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct request_ids ids;

static bool is_kept(const char *given)
{
    char text[REQUEST_ID_TEXT_MAX];
    request_id_choose(&ids, given, text);
    return strcmp(text, given) == 0;
}

static void sane_ids_are_kept(void **state)
{
    char longest[129];
    (void)state;
    memset(longest, '~', 128);
    longest[128] = '\0';
    assert_true(is_kept("r-1"));
    assert_true(is_kept("!"));
    assert_true(is_kept(longest));
}

static void others_are_replaced(void **state)
{
    static char too_long[130];
    (void)state;
    memset(too_long, 'a', 129);
    assert_false(is_kept(""));
    assert_false(is_kept("a b"));
    assert_false(is_kept("a\nb"));
    assert_false(is_kept("\xc3\xa4"));
    assert_false(is_kept(too_long));
}

static void a_made_id_is_a_uuid_of_version_7(void **state)
{
    char text[REQUEST_ID_TEXT_MAX];
    (void)state;
    request_ids_init(&ids);
    for (int i = 0; i < 1000; i++) {
        request_id_choose(&ids, NULL, text);
        assert_int_equal(strlen(text), 36);
        for (int j = 0; j < 36; j++)
            if (j == 8 || j == 13 || j == 18 || j == 23)
                assert_int_equal(text[j], '-');
            else
                assert_non_null(strchr("0123456789abcdef", text[j]));
        assert_int_equal(text[14], '7');
        assert_non_null(strchr("89ab", text[19]));
    }
}

static void made_ids_differ(void **state)
{
    enum { MADE = 500 };
    static char made[MADE][REQUEST_ID_TEXT_MAX];
    (void)state;
    request_ids_init(&ids);
    for (int i = 0; i < MADE; i++) {
        request_id_choose(&ids, NULL, made[i]);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(made[i], made[j]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sane_ids_are_kept),
        cmocka_unit_test(others_are_replaced),
        cmocka_unit_test(a_made_id_is_a_uuid_of_version_7),
        cmocka_unit_test(made_ids_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
