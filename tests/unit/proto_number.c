/* Texts <-> numbers: JSON's grammar, lists, and integers, exact to 64 bits. */
#include "tests/support/proto/number_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* -------------------------------------------------------------------------------------- grammar */

static void what_json_does_not_have_is_no_number(void **state)
{
    static const char *const texts[] = {
        "",          "-",   "+1",  "01",  "-01", "00",  ".5",          "-.5", "1.",
        "1.e5",      "1e",  "1e+", "1E-", "e5",  "nan", "NaN",         "inf", "-inf",
        "-Infinity", "x10", "--1", " 1",  "-e",  "1.x", "\x31\x2e\x80"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        double value;
        struct number_run run = read_text(DTYPE_FP64, texts[i], &value, 1);
        if (run.stop != NUMBER_NONE || run.count != 0 || run.at != texts[i])
            fail_msg("\"%s\": stop %d", texts[i], run.stop);
        assert_null(number_end(texts[i], texts[i] + strlen(texts[i])));
    }
}

static void a_number_ends_where_its_grammar_does(void **state)
{
    static const struct {
        const char *text;
        int length;
    } rows[] = {{"0", 1},     {"-0", 2},    {"10x", 2},       {"0x10", 1},          {"1.5.3", 3},
                {"1e5", 3},   {"1E+05", 5}, {"1e-5,", 4},     {"12]", 2},           {"0.000]", 5},
                {"1e5e5", 3}, {"7 8", 1},   {"123456789", 9}, {"0.12345678901", 13}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *text = rows[i].text;
        assert_int_equal(number_end(text, text + strlen(text)) - text, rows[i].length);
    }
}

static void the_end_is_not_passed(void **state)
{
    static const char text[] = "12.345678901234567890e12";
    (void)state;
    for (int size = 0; size <= (int)strlen(text); size++) {
        char *copy = malloc((size_t)size + 1), *exact = copy + 1;
        memcpy(exact, text, (size_t)size);
        const char *end = number_end(exact, exact + size);
        bool whole = size > 0 && text[size - 1] != '.' && text[size - 1] != 'e';
        assert_ptr_equal(end, whole ? exact + size : NULL);
        free(copy);
    }
}

static void lists(void **state)
{
    static const struct {
        const char *text;
        int64_t most, count;
        enum number_stop stop;
        int at;
    } rows[] = {
        {"1,2,3", 9, 3, NUMBER_END, 5},        {"1, 2\t,\r\n 3 ]", 9, 3, NUMBER_END, 11},
        {"1,2,3", 2, 2, NUMBER_MORE, 4},       {"1,2", 2, 2, NUMBER_END, 3},
        {"1,NaN", 9, 1, NUMBER_NONE, 2},       {"1,", 9, 1, NUMBER_NONE, 2},
        {"1,,2", 9, 1, NUMBER_NONE, 2},        {"1,300,2", 9, 1, NUMBER_RANGE, 2},
        {"1,2.5,2", 9, 1, NUMBER_FRACTION, 2}, {"1 2", 9, 1, NUMBER_END, 2},
        {"-7, [", 9, 1, NUMBER_NONE, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int8_t out[9];
        struct number_run run = read_text(DTYPE_INT8, rows[i].text, out, rows[i].most);
        if (run.count != rows[i].count || run.stop != rows[i].stop ||
            run.at - rows[i].text != rows[i].at)
            fail_msg("\"%s\": %d read, stop %d at %d", rows[i].text, (int)run.count, run.stop,
                     (int)(run.at - rows[i].text));
    }
}

/* ------------------------------------------------------------------------------------- integers */

static void integers_are_exact(void **state)
{
    static const struct {
        enum dtype dtype;
        const char *text;
        uint64_t value; /* its low bytes are the element */
    } rows[] = {
        {DTYPE_INT8, "-128", (uint64_t)-128},
        {DTYPE_INT8, "127", 127},
        {DTYPE_UINT8, "255", 255},
        {DTYPE_INT16, "-32768", (uint64_t)-32768},
        {DTYPE_UINT16, "65535", 65535},
        {DTYPE_INT32, "-2147483648", (uint64_t)-2147483648},
        {DTYPE_UINT32, "4294967295", 4294967295},
        {DTYPE_INT64, "9223372036854775807", INT64_MAX},
        {DTYPE_INT64, "-9223372036854775808", (uint64_t)INT64_MIN},
        {DTYPE_UINT64, "18446744073709551615", UINT64_MAX},
        {DTYPE_INT64, "9007199254740993", 9007199254740993},
        {DTYPE_INT64, "1491926160718000000", 1491926160718000000},
        {DTYPE_INT64, "1234567890123460", 1234567890123460},
        {DTYPE_UINT64, "1844674407370955161.5e1", UINT64_MAX},
        {DTYPE_UINT64, "18446744073709551615.000", UINT64_MAX},
        {DTYPE_INT32, "1.0", 1},
        {DTYPE_INT32, "1e3", 1000},
        {DTYPE_INT32, "-1.5E+1", (uint64_t)-15},
        {DTYPE_INT32, "1200e-2", 12},
        {DTYPE_INT32, "0.0e99999999999999999999", 0},
        {DTYPE_INT32, "-0", 0},
        {DTYPE_UINT8, "-0", 0},
        {DTYPE_UINT8, "-0.0", 0},
        {DTYPE_INT64, "0.00000000000000000000000000001e29", 1},
        {DTYPE_INT64, "100000000000000000000000000000e-29", 1},
        {DTYPE_BOOL, "0", 0},
        {DTYPE_BOOL, "1", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t value = 0;
        read_one(rows[i].dtype, rows[i].text, &value);
        if (memcmp(&value, &rows[i].value, dtype_bytes(rows[i].dtype)) != 0)
            fail_msg("\"%s\" became %llx", rows[i].text, (unsigned long long)value);
        if (!strpbrk(rows[i].text, ".eE") && value != 0 && rows[i].dtype != DTYPE_BOOL)
            assert_string_equal(print_one(rows[i].dtype, &value), rows[i].text);
    }
}

static void integers_beyond_their_type_are_refused(void **state)
{
    static const struct {
        enum dtype dtype;
        const char *text;
        enum number_stop stop;
    } rows[] = {
        {DTYPE_INT8, "128", NUMBER_RANGE},
        {DTYPE_INT8, "-129", NUMBER_RANGE},
        {DTYPE_UINT8, "256", NUMBER_RANGE},
        {DTYPE_UINT8, "-1", NUMBER_RANGE},
        {DTYPE_INT16, "32768", NUMBER_RANGE},
        {DTYPE_UINT16, "65536", NUMBER_RANGE},
        {DTYPE_INT32, "2147483648", NUMBER_RANGE},
        {DTYPE_UINT32, "4294967296", NUMBER_RANGE},
        {DTYPE_INT64, "9223372036854775808", NUMBER_RANGE},
        {DTYPE_INT64, "-9223372036854775809", NUMBER_RANGE},
        {DTYPE_UINT64, "18446744073709551616", NUMBER_RANGE},
        {DTYPE_UINT64, "99999999999999999999999999999", NUMBER_RANGE},
        {DTYPE_INT64, "1e19", NUMBER_RANGE},
        {DTYPE_INT64, "1e99999999999999999999999", NUMBER_RANGE},
        {DTYPE_INT64, "1.5", NUMBER_FRACTION},
        {DTYPE_INT64, "1e-1", NUMBER_FRACTION},
        {DTYPE_INT64, "1e-99999999999999999999999", NUMBER_FRACTION},
        {DTYPE_INT64, "0.1234567890123456789012345", NUMBER_FRACTION},
        {DTYPE_BOOL, "2", NUMBER_RANGE},
        {DTYPE_BOOL, "-1", NUMBER_RANGE},
        {DTYPE_BOOL, "0.5", NUMBER_FRACTION},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t value;
        struct number_run run = read_text(rows[i].dtype, rows[i].text, &value, 1);
        if (run.stop != rows[i].stop || run.at != rows[i].text || run.count != 0)
            fail_msg("\"%s\": stop %d", rows[i].text, run.stop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_json_does_not_have_is_no_number),
        cmocka_unit_test(a_number_ends_where_its_grammar_does),
        cmocka_unit_test(the_end_is_not_passed),
        cmocka_unit_test(lists),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(integers_beyond_their_type_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
