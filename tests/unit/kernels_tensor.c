#include "kernels/tensor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const int64_t huge = INT64_C(1) << 62;

static void product_of_part_of_a_shape(void **state)
{
    (void)state;
    const int64_t shape[] = {2, 3, 5, 7};
    int64_t p;
    assert_true(shape_product(shape, 0, 4, &p));
    assert_int_equal(p, 210);
    assert_true(shape_product(shape, 1, 3, &p));
    assert_int_equal(p, 15);
    assert_true(shape_product(shape, 2, 2, &p));
    assert_int_equal(p, 1);
}

static void product_that_overflows(void **state)
{
    (void)state;
    const int64_t shape[] = {huge, 2}, fits[] = {huge, 1}, largest[] = {INT64_MAX, 1};
    int64_t p;
    assert_false(shape_product(shape, 0, 2, &p));
    assert_true(shape_product(fits, 0, 2, &p));
    assert_int_equal(p, huge);
    assert_true(shape_product(largest, 0, 2, &p));
    assert_int_equal(p, INT64_MAX);
}

/* A zero at any place among the dimensions. */
static void zero_makes_any_product_zero(void **state)
{
    (void)state;
    const int64_t shapes[][3] = {{0, huge, huge}, {huge, 0, huge}, {huge, huge, 0}};
    for (int i = 0; i < 3; i++) {
        int64_t p = -1;
        assert_true(shape_product(shapes[i], 0, 3, &p));
        assert_int_equal(p, 0);
    }
}

static void negative_dimension_has_no_product(void **state)
{
    (void)state;
    const int64_t shape[] = {-2, -3}, with_zero[] = {0, -1};
    int64_t p;
    assert_false(shape_product(shape, 0, 2, &p));
    assert_false(shape_product(with_zero, 0, 2, &p));
}

static void count_and_bytes(void **state)
{
    (void)state;
    struct tensor t = {DTYPE_FP64, 2, {3, 4}, NULL}, scalar = {DTYPE_BYTES, 0, {0}, NULL};
    int64_t count;
    size_t bytes;
    assert_true(tensor_count(&t, &count));
    assert_int_equal(count, 12);
    assert_true(tensor_bytes(&t, &bytes));
    assert_int_equal(bytes, 96);
    assert_true(tensor_bytes(&scalar, &bytes));
    assert_int_equal(bytes, 16);
}

static void bytes_that_overflow(void **state)
{
    (void)state;
    struct tensor t = {DTYPE_FP64, 1, {huge}, NULL}, small = {DTYPE_INT8, 1, {huge}, NULL};
    int64_t count;
    size_t bytes;
    assert_true(tensor_count(&t, &count));
    assert_false(tensor_bytes(&t, &bytes));
    assert_true(tensor_bytes(&small, &bytes));
}

static void shapes_print_as_lists(void **state)
{
    (void)state;
    char text[SHAPE_TEXT_MAX];
    const int64_t shape[] = {2, 0, -1};
    assert_string_equal(shape_print(text, shape, 3), "[2, 0, -1]");
    assert_string_equal(shape_print(text, shape, 1), "[2]");
    assert_string_equal(shape_print(text, shape, 0), "[]");
}

static void longest_shape_fits(void **state)
{
    (void)state;
    char text[SHAPE_TEXT_MAX];
    int64_t shape[RANK_MAX];
    for (int i = 0; i < RANK_MAX; i++)
        shape[i] = INT64_MIN;
    assert_true(strlen(shape_print(text, shape, RANK_MAX)) < SHAPE_TEXT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product_of_part_of_a_shape),
        cmocka_unit_test(product_that_overflows),
        cmocka_unit_test(zero_makes_any_product_zero),
        cmocka_unit_test(negative_dimension_has_no_product),
        cmocka_unit_test(count_and_bytes),
        cmocka_unit_test(bytes_that_overflow),
        cmocka_unit_test(shapes_print_as_lists),
        cmocka_unit_test(longest_shape_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
