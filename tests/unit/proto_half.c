/* FP16 and BF16 as text, all of them: the oracle is the definition, over every value there is. */
#include "proto/number/number.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { HALVES = 65536 };

static struct number_run read_text(enum dtype dtype, const char *text, uint16_t *half)
{
    return number_read(dtype, text, text + strlen(text), half, 1);
}

/* The text of one element, without its comma. */
static const char *print_one(enum dtype dtype, uint16_t half)
{
    static char text[64];
    char *end = text;
    assert_int_equal(number_print(dtype, &half, 1, &end), 1);
    assert_true((size_t)(end - text) <= number_text_max(dtype));
    end[-1] = '\0';
    return text;
}

static double half_value(enum dtype dtype, unsigned half)
{
    int fraction = dtype == DTYPE_FP16 ? 10 : 7, lowest = dtype == DTYPE_FP16 ? -14 : -126;
    int exponent = (int)(half & 0x7fff) >> fraction, bits = (int)half & ((1 << fraction) - 1);
    double value = exponent ? ldexp(bits + (1 << fraction), exponent - 1 + lowest - fraction)
                            : ldexp(bits, lowest - fraction);
    return half & 0x8000 ? -value : value;
}

static unsigned half_infinity(enum dtype dtype)
{
    return dtype == DTYPE_FP16 ? 0x7c00 : 0x7f80;
}

/* The half that the definition asks for: nearest to the double, ties to even, by bisection. */
static unsigned half_nearest(enum dtype dtype, double value)
{
    unsigned low = 0, high = half_infinity(dtype);
    double magnitude = fabs(value), top = half_value(dtype, high - 1);
    double beyond = top + (top - half_value(dtype, high - 2)); /* where infinity stands */
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (half_value(dtype, middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    double above = high == half_infinity(dtype) ? beyond : half_value(dtype, high);
    double down = magnitude - half_value(dtype, low), up = above - magnitude;
    unsigned nearest = down < up || (down == up && low % 2 == 0) ? low : high;
    return nearest | (signbit(value) ? 0x8000 : 0);
}

static void every_half_reads_back(enum dtype dtype)
{
    for (unsigned i = 0; i < HALVES; i++) {
        uint16_t half = (uint16_t)i, back;
        if ((i & 0x7fff) >= half_infinity(dtype))
            continue;
        const char *text = print_one(dtype, half);
        assert_non_null(strpbrk(text, ".e"));
        assert_int_equal(half_nearest(dtype, strtod(text, NULL)), half);
        assert_int_equal(read_text(dtype, text, &back).stop, NUMBER_END);
        assert_int_equal(back, half);
    }
}

static int significant_digits(const char *text)
{
    int digits = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text == '0')
            zeros += digits > 0;
        else if (*text >= '1' && *text <= '9') {
            digits += zeros + 1;
            zeros = 0;
        }
    }
    return digits;
}

/* No decimal of one digit less lies in a half's reach: the neighbours on both sides are tried. */
static void every_half_is_shortest(enum dtype dtype)
{
    for (unsigned i = 1; i < half_infinity(dtype); i++) {
        uint16_t half = (uint16_t)i;
        int digits = significant_digits(print_one(dtype, half));
        if (digits == 1)
            continue;
        char text[32];
        double value = half_value(dtype, i);
        snprintf(text, sizeof(text), "%.*e", digits - 2, value);
        double power = floor(log10(value));
        double unit = pow(10, power - (digits - 2));
        for (int k = -1; k <= 1; k++) {
            char shorter[32];
            snprintf(shorter, sizeof(shorter), "%.*e", digits - 2, strtod(text, NULL) + k * unit);
            if (half_nearest(dtype, strtod(shorter, NULL)) == i)
                fail_msg("%s %04x prints as %s, but %s would do", dtype_name(dtype), i,
                         print_one(dtype, half), shorter);
        }
    }
}

static void every_fp16_reads_back_and_is_shortest(void **state)
{
    (void)state;
    every_half_reads_back(DTYPE_FP16);
    every_half_is_shortest(DTYPE_FP16);
}

static void every_bf16_reads_back_and_is_shortest(void **state)
{
    (void)state;
    every_half_reads_back(DTYPE_BF16);
    every_half_is_shortest(DTYPE_BF16);
}

static void texts_become_the_nearest_halves(void **state)
{
    static const char *const texts[] = {"1.00048828125", "1.00146484375",
                                        "65519.99",      "65520",
                                        "-65519.999",    "5.96046448e-8",
                                        "2.98023224e-8", "2.99e-8",
                                        "1e-300",        "-1e-300",
                                        "6.1e-5",        "2049",
                                        "2051",          "3.3895313892515355e38",
                                        "3.3961775e38",  "3.4e38",
                                        "1e39",          "1e400",
                                        "4.6e-41",       "1.00390625",
                                        "1.01171875"};
    static const enum dtype types[] = {DTYPE_FP16, DTYPE_BF16};
    (void)state;
    for (int t = 0; t < 2; t++) {
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
            unsigned expected = half_nearest(types[t], fmin(strtod(texts[i], NULL), 1e308));
            uint16_t half;
            struct number_run run = read_text(types[t], texts[i], &half);
            if ((expected & 0x7fff) == half_infinity(types[t]))
                assert_int_equal(run.stop, NUMBER_RANGE);
            else if (run.stop != NUMBER_END || half != expected)
                fail_msg("\"%s\" became %04x, not %04x", texts[i], half, expected);
        }
    }
}

/* -------------------------------------------------------------------------------------- middles */

enum { MIDDLE_MAX = 256 };

/* The value in the middle of a half and the next one, or infinity, in all its digits. */
static void print_middle(enum dtype dtype, unsigned half, char text[MIDDLE_MAX])
{
    double low = half_value(dtype, half);
    double step = half + 1 < half_infinity(dtype) ? half_value(dtype, half + 1) - low
                                                  : low - half_value(dtype, half - 1);
    snprintf(text, MIDDLE_MAX, "%.150e", low + step / 2);
}

static void expect_half(enum dtype dtype, const char *text, unsigned expected)
{
    for (int negative = 0; negative < 2; negative++) {
        char signed_text[MIDDLE_MAX + 64];
        uint16_t half;
        snprintf(signed_text, sizeof(signed_text), "%s%s", negative ? "-" : "", text);
        struct number_run run = read_text(dtype, signed_text, &half);
        if (expected == half_infinity(dtype)
                ? run.stop != NUMBER_RANGE
                : run.stop != NUMBER_END || half != (expected | (negative ? 0x8000u : 0)))
            fail_msg("%s: \"%s\" became %04x, not %04x", dtype_name(dtype), signed_text, half,
                     expected);
    }
}

/* 1.5000e-3 with digits put in front of its exponent. */
static void insert_digits(char *out, const char *text, size_t keep, const char *digits)
{
    sprintf(out, "%.*s%s%s", (int)keep, text, digits, strchr(text, 'e'));
}

/* The middle itself goes to the even half; a hair's breadth decides otherwise, whatever a double
 * makes of it. */
static void the_text_decides_in_the_middle_of_two_halves(void **state)
{
    static const enum dtype types[] = {DTYPE_FP16, DTYPE_BF16};
    (void)state;
    for (int t = 0; t < 2; t++) {
        for (unsigned low = 0; low < half_infinity(types[t]); low++) {
            char middle[MIDDLE_MAX], text[MIDDLE_MAX + 32];
            print_middle(types[t], low, middle);
            size_t digits = (size_t)(strchr(middle, 'e') - middle), last = digits;
            expect_half(types[t], middle, low + low % 2);
            insert_digits(text, middle, digits, "0000000001");
            expect_half(types[t], text, low + 1);
            while (middle[last - 1] == '0')
                last--;
            if (middle[last - 1] == '.') /* 5.e4: 4.9e4 and more nines are below it */
                last--;
            middle[last - 1]--;
            if (last == 1)
                middle[last++] = '.';
            insert_digits(text, middle, last, "99999999999999999999");
            expect_half(types[t], text, low);
        }
    }
}

static void every_way_to_write_a_middle_decides_alike(void **state)
{
    static const struct {
        const char *text;
        unsigned half;
    } rows[] = {
        {"1.00048828125", 0x3c00},
        {"1.00048828125000000000000000000000000000", 0x3c00},
        {"100048828125e-11", 0x3c00},
        {"0.000100048828125e4", 0x3c00},
        {"1.00048828125000000001", 0x3c01},
        {"100048828125000000001e-20", 0x3c01},
        {"0.00000100048828125000000001e6", 0x3c01},
        {"1.00048828124999999999", 0x3c00},
        {"65519.99999999999999999999999", 0x7bff},
        {"65520.0", 0x7c00},
        {"2.98023223876953125e-8", 0},
        {"2.980232238769531250000001e-8", 1},
        {"2.980232238769531249999999e-8", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect_half(DTYPE_FP16, rows[i].text, rows[i].half);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fp16_reads_back_and_is_shortest),
        cmocka_unit_test(every_bf16_reads_back_and_is_shortest),
        cmocka_unit_test(texts_become_the_nearest_halves),
        cmocka_unit_test(the_text_decides_in_the_middle_of_two_halves),
        cmocka_unit_test(every_way_to_write_a_middle_decides_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
