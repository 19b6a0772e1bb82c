/* Texts <-> FP32 and FP64. The oracles are strtod and strtof of the C library, which round
 * correctly. */
#include "tests/support/proto/number_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANDOM_TEXTS = 200000 };

static const uint64_t seed = 20261130;

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void check_against_c_library(const char *text)
{
    double f64, f64_expected = strtod(text, NULL);
    float f32, f32_expected = strtof(text, NULL);
    if (isfinite(f64_expected)) {
        read_one(DTYPE_FP64, text, &f64);
        if (memcmp(&f64, &f64_expected, sizeof(f64)) != 0)
            fail_msg("\"%s\" as FP64 is %a, not %a", text, f64, f64_expected);
    } else {
        assert_int_equal(read_text(DTYPE_FP64, text, &f64, 1).stop, NUMBER_RANGE);
    }
    if (isfinite(f32_expected)) {
        read_one(DTYPE_FP32, text, &f32);
        if (memcmp(&f32, &f32_expected, sizeof(f32)) != 0)
            fail_msg("\"%s\" as FP32 is %a, not %a", text, (double)f32, (double)f32_expected);
    } else {
        assert_int_equal(read_text(DTYPE_FP32, text, &f32, 1).stop, NUMBER_RANGE);
    }
}

static void floats_are_rounded_correctly(void **state)
{
    static const char *const texts[] = {"0",
                                        "-0",
                                        "0.96",
                                        "1.24",
                                        "100.2",
                                        "6e-07",
                                        "555557.5",
                                        "16777217",
                                        "16777219",
                                        "9007199254740993",
                                        "3.4028235e38",
                                        "3.40282356e38",
                                        "3.4028236e38",
                                        "1e39",
                                        "-1e39",
                                        "1e308",
                                        "1.7976931348623157e308",
                                        "1.7976931348623159e308",
                                        "1e309",
                                        "4.9e-324",
                                        "2.4e-324",
                                        "2.5e-324",
                                        "1e-400",
                                        "-1e-400",
                                        "1.401298464324817e-45",
                                        "7e-46",
                                        "1.1754943508222875e-38",
                                        "2.2250738585072011e-308",
                                        "0e999999999999999999",
                                        "1e-999999999999999999",
                                        "1e22",
                                        "1e23",
                                        "123456789012345678901234567890",
                                        "0.1e1",
                                        "1.00000005960464477539062500000000000000000001",
                                        "1.000000059604644775390625",
                                        "8.589973504e9",
                                        "0.000000000000000000000000000000000000000000001e45"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        check_against_c_library(texts[i]);
}

/* Digits of many lengths, and texts that stand exactly between two floats or beside that. */
static void random_texts_are_rounded_correctly(void **state)
{
    uint64_t random = seed;
    char text[128];
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < RANDOM_TEXTS; i++) {
        int digits = (int)(draw(&random) % 20);
        unsigned long long mantissa = draw(&random) >> digits * 3;
        snprintf(text, sizeof(text), "%s%llu.%llue%d", i & 1 ? "-" : "", mantissa >> 32,
                 mantissa & 0xffffffff, (int)(draw(&random) % 90) - 45);
        check_against_c_library(text);

        uint32_t bits = (uint32_t)draw(&random) & 0x7fffffff;
        float low, high;
        memcpy(&low, &bits, sizeof(low));
        bits++;
        memcpy(&high, &bits, sizeof(high));
        if (!isfinite(high))
            continue;
        snprintf(text, sizeof(text), "%.*e", i % 60, ((double)low + (double)high) / 2);
        check_against_c_library(text);
    }
}

static void every_zero_beyond_the_point_counts(void **state)
{
    enum { ZEROS = 1000 };
    char text[ZEROS + 16];
    double value;
    (void)state;
    text[0] = '0';
    text[1] = '.';
    memset(text + 2, '0', ZEROS);
    strcpy(text + 2 + ZEROS, "1e+600");
    read_one(DTYPE_FP64, text, &value);
    assert_true(value == 0);
    strcpy(text + 2 + ZEROS, "1e+1310");
    assert_int_equal(read_text(DTYPE_FP64, text, &value, 1).stop, NUMBER_RANGE);
    strcpy(text + 2 + ZEROS, "1e+1001");
    read_one(DTYPE_FP64, text, &value);
    assert_true(value == 1);
}

/* ------------------------------------------------------------------------------------- printing */

static void printed_floats_read_back(void **state)
{
    uint64_t random = seed;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < RANDOM_TEXTS; i++) {
        uint64_t bits64 = draw(&random);
        uint32_t bits32 = (uint32_t)draw(&random);
        double f64, f64_back;
        float f32, f32_back;
        memcpy(&f64, &bits64, sizeof(f64));
        memcpy(&f32, &bits32, sizeof(f32));
        if (isfinite(f64)) {
            read_one(DTYPE_FP64, print_one(DTYPE_FP64, &f64), &f64_back);
            assert_memory_equal(&f64_back, &f64, sizeof(f64));
        }
        if (isfinite(f32)) {
            read_one(DTYPE_FP32, print_one(DTYPE_FP32, &f32), &f32_back);
            assert_memory_equal(&f32_back, &f32, sizeof(f32));
        }
    }
}

static float draw_value(uint64_t *random, int i)
{
    uint32_t bits = (uint32_t)draw(random);
    float value;
    memcpy(&value, &bits, sizeof(value));
    if (i % 4 == 0 && isfinite(value))
        return value;
    if (i % 4 == 1)
        return (float)(draw(random) % 100000) / 100;
    return ldexpf((float)(draw(random) >> 40), (int)(draw(random) % 45) - 40);
}

/* Among others values are printed by arithmetic of ours, and alone by std::to_chars. */
static void values_print_among_others_as_alone(void **state)
{
    enum { COUNT = 100000 };
    float *values = malloc(COUNT * sizeof(*values));
    char *text = malloc(COUNT * 15), *end = text;
    uint64_t random = seed;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < COUNT; i++)
        values[i] = draw_value(&random, i);
    assert_int_equal(number_print(DTYPE_FP32, values, COUNT, &end), COUNT);
    const char *at = text;
    for (int i = 0; i < COUNT; i++) {
        const char *alone = print_one(DTYPE_FP32, &values[i]);
        size_t size = strlen(alone);
        if (memcmp(at, alone, size) != 0 || at[size] != ',')
            fail_msg("%a prints as %.16s, alone as %s", (double)values[i], at, alone);
        at += size + 1;
    }
    assert_ptr_equal(at, end);
    free(text);
    free(values);
}

static void floats_print_with_a_point_or_an_exponent(void **state)
{
    static const struct {
        double value;
        const char *f32, *f64;
    } rows[] = {
        {0, "0.0", "0.0"},
        {-0.0, "-0.0", "-0.0"},
        {1, "1.0", "1.0"},
        {-99999, "-99999.0", "-99999.0"},
        {100.2, "100.2", "100.2"},
        {0.96, "0.96", "0.96"},
        {555557.5, "555557.5", "555557.5"},
        {6e-07, "6e-07", "6e-07"},
        {1e20, "1e+20", "1e+20"},
        {-16777216, "-16777216.0", "-16777216.0"},
        {1234567890123460, "1.234568e+15", "1234567890123460.0"},
        {-3.4028234663852886e38, "-3.4028235e+38", "-3.4028234663852886e+38"},
        /* Of the longest FP32 texts the point is left out. */
        {-1.00000075e-36, "-100000075e-44", "-1.00000075e-36"},
        {-0.000100000005, "-100000005e-12", "-0.000100000005"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        float f32 = (float)rows[i].value;
        assert_string_equal(print_one(DTYPE_FP32, &f32), rows[i].f32);
        assert_string_equal(print_one(DTYPE_FP64, &rows[i].value), rows[i].f64);
    }
}

/* FP32 that take nine digits and are whole or small: where the text is at its longest. */
static void no_text_is_longer_than_it_may_be(void **state)
{
    static const float starts[] = {-1e-28f, -1e-36f, -1e-4f, -1.0f,  -1000.0f, -1e9f, -1e12f,
                                   -1e13f,  -1e14f,  -1e15f, -1e27f, -1e28f,   -1e36f};
    (void)state;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        float value = starts[i], back;
        for (int step = 0; step < 20000; step++) {
            const char *text = print_one(DTYPE_FP32, &value);
            assert_true(strlen(text) + 1 <= 15);
            read_one(DTYPE_FP32, text, &back);
            assert_true(back == value);
            value = nextafterf(value, -INFINITY);
        }
    }
    assert_int_equal(number_text_max(DTYPE_FP32), 15);
    assert_int_equal(number_text_max(DTYPE_FP64), 25);
    assert_int_equal(number_text_max(DTYPE_INT64), 21);
    assert_int_equal(number_text_max(DTYPE_UINT64), 21);
    assert_int_equal(number_text_max(DTYPE_UINT8), 4);
    assert_int_equal(number_text_max(DTYPE_BYTES), 0);
}

static void printing_stops_before_what_is_not_finite(void **state)
{
    static const float values[] = {1, 2.5f, NAN, 3, -INFINITY};
    char text[5 * 15], *end = text;
    (void)state;
    assert_int_equal(number_print(DTYPE_FP32, values, 5, &end), 2);
    assert_memory_equal(text, "1.0,2.5,", 8);
    assert_int_equal(end - text, 8);
    assert_int_equal(number_print(DTYPE_FP32, values + 4, 1, &end), 0);
    static const uint16_t halves[] = {0x7c00, 0x7f80};
    assert_int_equal(number_print(DTYPE_FP16, halves, 1, &end), 0);
    assert_int_equal(number_print(DTYPE_BF16, halves + 1, 1, &end), 0);
    assert_int_equal(end - text, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_rounded_correctly),
        cmocka_unit_test(random_texts_are_rounded_correctly),
        cmocka_unit_test(every_zero_beyond_the_point_counts),
        cmocka_unit_test(printed_floats_read_back),
        cmocka_unit_test(values_print_among_others_as_alone),
        cmocka_unit_test(floats_print_with_a_point_or_an_exponent),
        cmocka_unit_test(no_text_is_longer_than_it_may_be),
        cmocka_unit_test(printing_stops_before_what_is_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
