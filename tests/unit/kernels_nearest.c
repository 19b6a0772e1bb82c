/* nearest: words within two edits are found, others are not. */
#include "kernels/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *near_to(const char *word)
{
    static const char *const known[] = {"datatype", "shape", "data", "bad_indices_policy", "id"};
    struct nearest n = nearest_to(word, strlen(word));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        nearest_offer(&n, known[i]);
    return n.found ? n.found : "";
}

static void a_letter_more_less_or_other_and_swapped_ones_are_edits(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"datatype", "datatype"},
        {"DataType", "datatype"},
        {"datatyp", "datatype"},
        {"daatype", "datatype"},
        {"data_type", "datatype"},
        {"dataTypes", "datatype"},
        {"adtatyep", "datatype"},
        {"shaep", "shape"},
        {"shap", "shape"},
        {"scape", "shape"},
        {"sahpe_", "shape"},
        {"adta", "data"},
        {"dat", "data"},
        {"datas", "data"},
        {"bad_indices_polcy", "bad_indices_policy"},
        {"ID", "id"},
        {"badIndicesPolicy", "bad_indices_policy"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(near_to(rows[i][0]), rows[i][1]);
}

static void what_is_further_away_is_not_near(void **state)
{
    (void)state;
    static const char *const words[] = {"", "dtype", "meta", "z", "type", "dims", "size", "my_tag"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_string_equal(near_to(words[i]), "");
}

static void the_nearest_wins_and_of_equals_the_first(void **state)
{
    (void)state;
    struct nearest n = nearest_to("timeouts", 8);
    nearest_offer(&n, "timeotus");
    assert_string_equal(n.found, "timeotus");
    assert_int_equal(n.edits, 1);
    nearest_offer(&n, "timeout");
    assert_string_equal(n.found, "timeotus");
    nearest_offer(&n, "timeouts");
    assert_string_equal(n.found, "timeouts");
    assert_int_equal(n.edits, 0);
    nearest_offer(&n, "timeouts");
    assert_int_equal(n.edits, 0);
}

static void only_the_bytes_of_the_word_are_read(void **state)
{
    (void)state;
    struct nearest n = nearest_to("deviceXYZ", 6);
    nearest_offer(&n, "device");
    assert_string_equal(n.found, "device");
    assert_int_equal(n.edits, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_more_less_or_other_and_swapped_ones_are_edits),
        cmocka_unit_test(what_is_further_away_is_not_near),
        cmocka_unit_test(the_nearest_wins_and_of_equals_the_first),
        cmocka_unit_test(only_the_bytes_of_the_word_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
