/* The elements' arithmetic, and both half types against the definition of rounding. */
#include "kernels/arithmetic.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A half type by its definition: mantissa bits, and the exponent of the smallest normal number. */
struct half {
    int mantissa, lowest;
    float (*widen)(uint16_t);
    uint16_t (*narrow)(float);
};

static float widen_fp16(uint16_t h)
{
    return widen_f16(h);
}

static uint16_t narrow_fp16(float f)
{
    return narrow_f16(f);
}

static float widen_bfloat(uint16_t h)
{
    return widen_bf16(h);
}

static uint16_t narrow_bfloat(float f)
{
    return narrow_bf16(f);
}

static struct half fp16 = {10, -14, widen_fp16, narrow_fp16};
static struct half bf16 = {7, -126, widen_bfloat, narrow_bfloat};

static unsigned infinite(const struct half *h)
{
    return (unsigned)(2 * -h->lowest + 3) << h->mantissa;
}

/* The value of a finite positive half; for the bits behind the largest one, what the next half
 * would be. */
static double value(const struct half *h, unsigned bits)
{
    unsigned exponent = bits >> h->mantissa, rest = bits & ((1u << h->mantissa) - 1);
    if (exponent == 0)
        return ldexp(rest, h->lowest - h->mantissa);
    return ldexp((1u << h->mantissa) + rest, h->lowest - h->mantissa + (int)exponent - 1);
}

static void widening_is_exact(void **state)
{
    const struct half *h = *state;
    for (unsigned bits = 0; bits < infinite(h); bits++) {
        assert_true((double)h->widen((uint16_t)bits) == value(h, bits));
        assert_true((double)h->widen((uint16_t)(bits | 0x8000)) == -value(h, bits));
    }
    assert_true(signbit(h->widen(0x8000)));
    assert_true(isinf(h->widen((uint16_t)infinite(h))));
    for (unsigned bits = infinite(h) + 1; bits < 0x8000; bits++) {
        assert_true(isnan(h->widen((uint16_t)bits)));
        assert_true(isnan(h->widen((uint16_t)(bits | 0x8000))));
    }
}

static void narrows_to(const struct half *h, float f, unsigned bits)
{
    assert_int_equal(h->narrow(f), bits);
    assert_int_equal(h->narrow(-f), bits | 0x8000);
}

/* Rounding steps up only between neighbours, and is monotonous: it is right everywhere if it is at
 * each middle and on both sides of it. The largest rounds up to infinity. */
static void narrowing_rounds_to_nearest_even(void **state)
{
    const struct half *h = *state;
    for (unsigned bits = 0; bits < infinite(h); bits++) {
        double middle = (value(h, bits) + value(h, bits + 1)) / 2;
        narrows_to(h, (float)value(h, bits), bits);
        if (middle > FLT_MAX)
            continue;
        float m = (float)middle;
        narrows_to(h, m, bits + (bits & 1));
        narrows_to(h, nextafterf(m, 0), bits);
        narrows_to(h, nextafterf(m, INFINITY), bits + 1);
    }
    narrows_to(h, INFINITY, infinite(h));
}

/* Whatever bits of a NaN are cut off, it stays one, and keeps its sign. */
static void narrowing_keeps_nan(void **state)
{
    const struct half *h = *state;
    static const uint32_t nans[] = {0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0x7F80FFFF, 0x7FFF8000};
    for (size_t i = 0; i < sizeof nans / sizeof nans[0]; i++)
        for (uint32_t sign = 0; sign <= 1; sign++) {
            uint16_t bits = h->narrow(float_of_bits(nans[i] | sign << 31));
            assert_true((bits & 0x7FFFu) > infinite(h));
            assert_int_equal(bits >> 15, sign);
        }
}

/* The functions less_* agree with the comparison of the values; not all pairs are tried. */
static void halves_compare_as_their_values(void **state)
{
    const struct half *h = *state;
    bool is_fp16 = h == &fp16;
    for (unsigned a = 0; a < 0x10000; a += 97)
        for (unsigned b = 0; b < 0x10000; b += 101) {
            uint16_t x = (uint16_t)a, y = (uint16_t)b;
            assert_int_equal(is_fp16 ? less_f16(x, y) : less_bf16(x, y), h->widen(x) < h->widen(y));
        }
    assert_false(is_fp16 ? less_f16(0x8000, 0) : less_bf16(0x8000, 0));
    assert_false(is_fp16 ? less_f16(0, 0x8000) : less_bf16(0, 0x8000));
}

static void signed_division_truncates_and_wraps(void **state)
{
    (void)state;
    assert_int_equal(divide_i8(-7, 2), -3);
    assert_int_equal(divide_i8(7, -2), -3);
    assert_int_equal(divide_i8(INT8_MIN, -1), INT8_MIN);
    assert_int_equal(divide_i16(INT16_MIN, -1), INT16_MIN);
    assert_int_equal(divide_i32(INT32_MIN, -1), INT32_MIN);
    assert_true(divide_i64(INT64_MIN, -1) == INT64_MIN);
    assert_int_equal(divide_i32(5, -1), -5);
    assert_int_equal(divide_u8(200, 255), 0);
    assert_int_equal(divide_u8(255, 255), 1);
}

static void multiplication_wraps(void **state)
{
    (void)state;
    assert_int_equal(multiply_u16(65535, 65535), 1);
    assert_int_equal(narrow_i16(multiply_i16(widen_i16(-32768), widen_i16(-32768))), 0);
    assert_true(multiply_u64(UINT64_MAX, UINT64_MAX) == 1);
    assert_int_equal(narrow_i32(multiply_i32(widen_i32(65536), widen_i32(65536))), 0);
}

#define HALF_TEST(test, half) cmocka_unit_test_prestate(test, &half)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HALF_TEST(widening_is_exact, fp16),
        HALF_TEST(widening_is_exact, bf16),
        HALF_TEST(narrowing_rounds_to_nearest_even, fp16),
        HALF_TEST(narrowing_rounds_to_nearest_even, bf16),
        HALF_TEST(narrowing_keeps_nan, fp16),
        HALF_TEST(narrowing_keeps_nan, bf16),
        HALF_TEST(halves_compare_as_their_values, fp16),
        HALF_TEST(halves_compare_as_their_values, bf16),
        cmocka_unit_test(signed_division_truncates_and_wraps),
        cmocka_unit_test(multiplication_wraps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
