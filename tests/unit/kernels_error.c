#include "kernels/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void set_fills_code_and_sentence(void **state)
{
    (void)state;
    struct error e = {.fault_count = 3, .bound_rank = 2, .invalid_count = 9};
    enum error_code code = error_set(&e, ERROR_SHAPE_MISMATCH, "indices", "%s has rank %d", "x", 3);
    assert_int_equal(code, ERROR_SHAPE_MISMATCH);
    assert_int_equal(e.code, ERROR_SHAPE_MISMATCH);
    assert_string_equal(e.input, "indices");
    assert_string_equal(e.message, "x has rank 3");
}

static void set_forgets_earlier_details(void **state)
{
    (void)state;
    struct error e = {.fault_count = 3, .bound_rank = 2, .invalid_count = 9};
    error_set(&e, ERROR_INTERNAL, NULL, "no details");
    assert_null(e.input);
    assert_int_equal(e.fault_count, 0);
    assert_int_equal(e.bound_rank, 0);
    assert_int_equal(e.invalid_count, 0);
}

static void clear_says_no_error(void **state)
{
    (void)state;
    struct error e;
    error_set(&e, ERROR_INTERNAL, NULL, "x");
    error_clear(&e);
    assert_int_equal(e.code, ERROR_NONE);
}

static void long_sentence_is_cut(void **state)
{
    (void)state;
    struct error e;
    char text[2 * ERROR_MESSAGE_MAX];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    error_set(&e, ERROR_INTERNAL, NULL, "%s", text);
    assert_int_equal(strlen(e.message), ERROR_MESSAGE_MAX - 1);
}

/* Characters of 2, 3 and 4 bytes, each at every distance from the end. */
static void sentence_is_cut_at_a_character(void **state)
{
    (void)state;
    static const char *const characters[] = {"\u00e9", "\u20ac", "\U0001F600"};
    for (size_t c = 0; c < sizeof characters / sizeof characters[0]; c++)
        for (size_t lead = 0; lead < 4; lead++) {
            struct error e;
            size_t size = strlen(characters[c]), length = lead;
            char text[2 * ERROR_MESSAGE_MAX] = "aaaa";
            for (; length + size < sizeof text - 1; length += size)
                memcpy(text + length, characters[c], size);
            text[length] = '\0';
            error_set(&e, ERROR_INTERNAL, NULL, "%s", text);
            size_t kept = strlen(e.message);
            assert_int_equal((kept - lead) % size, 0);
            assert_true(kept > ERROR_MESSAGE_MAX - 1 - size);
            assert_memory_equal(e.message, text, kept);
        }
}

static void names_are_the_codes(void **state)
{
    (void)state;
    assert_string_equal(error_name(ERROR_NONE), "NONE");
    assert_string_equal(error_name(ERROR_INDEX_OUT_OF_BOUNDS), "INDEX_OUT_OF_BOUNDS");
    assert_string_equal(error_name(ERROR_CANCELLED), "CANCELLED");
    for (int code = 0; code < ERROR_CODE_COUNT; code++)
        assert_non_null(error_name((enum error_code)code));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_fills_code_and_sentence),
        cmocka_unit_test(set_forgets_earlier_details),
        cmocka_unit_test(clear_says_no_error),
        cmocka_unit_test(long_sentence_is_cut),
        cmocka_unit_test(sentence_is_cut_at_a_character),
        cmocka_unit_test(names_are_the_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
