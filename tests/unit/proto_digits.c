/* digits: where a number of digits alone ends, its bound, and what is none. */
#include "proto/number/digits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void digits_are_read_up_to_what_follows(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
        const char *rest;
    } rows[] = {
        {"0", 0, ""},       {"007", 7, ""},   {"12K/s", 12, "K/s"},
        {"3:10", 3, ":10"}, {"1.5", 1, ".5"}, {"18446744073709551615 ", UINT64_MAX, " "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value;
        const char *rest = digits_read(rows[i].text, UINT64_MAX, &value);
        assert_non_null(rest);
        assert_string_equal(rest, rows[i].rest);
        assert_true(value == rows[i].value);
    }
}

static void what_does_not_start_with_a_digit_is_no_number(void **state)
{
    static const char *const texts[] = {"", "-1", "+1", " 1", ".5", "x", "\xb2"};
    uint64_t value;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(digits_read(texts[i], UINT64_MAX, &value));
}

static void numbers_beyond_the_bound_are_refused_and_do_not_wrap(void **state)
{
    uint64_t value;
    (void)state;
    assert_non_null(digits_read("65535", UINT16_MAX, &value));
    assert_null(digits_read("65536", UINT16_MAX, &value));
    assert_non_null(digits_read("9223372036854775807", INT64_MAX, &value));
    assert_null(digits_read("9223372036854775808", INT64_MAX, &value));
    assert_null(digits_read("18446744073709551616", UINT64_MAX, &value));
    assert_null(digits_read("184467440737095516150", UINT64_MAX, &value));
    assert_null(digits_read("36893488147419103233", UINT64_MAX, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_are_read_up_to_what_follows),
        cmocka_unit_test(what_does_not_start_with_a_digit_is_no_number),
        cmocka_unit_test(numbers_beyond_the_bound_are_refused_and_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
