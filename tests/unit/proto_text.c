/* text: appends that never overflow, strings that are always valid JSON. */
#include "proto/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char buffer[128];

static struct text start(size_t capacity)
{
    struct text t;
    memset(buffer, '#', sizeof(buffer));
    text_init(&t, buffer, capacity);
    return t;
}

static void appends_follow_one_another(void **state)
{
    struct text t = start(sizeof(buffer));
    (void)state;
    text_puts(&t, "ab");
    text_put(&t, "cdef", 2);
    text_printf(&t, "-%d-", 7);
    text_quoted(&t, "{'a':'b'}");
    assert_string_equal(t.data, "abcd-7-{\"a\":\"b\"}");
    assert_int_equal(t.size, strlen(t.data));
    assert_false(t.cut);
}

static void integers_of_every_length(void **state)
{
    static const struct {
        int64_t value;
        const char *text;
    } rows[] = {
        {0, "0"},
        {-1, "-1"},
        {9007199254740993, "9007199254740993"},
        {INT64_MAX, "9223372036854775807"},
        {INT64_MIN, "-9223372036854775808"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct text t = start(sizeof(buffer));
        text_int(&t, rows[i].value);
        assert_string_equal(t.data, rows[i].text);
    }
}

static void hexadecimals_have_their_width_at_least(void **state)
{
    static const struct {
        uint64_t value;
        int width;
        const char *text;
    } rows[] = {
        {0, 1, "0"},        {0, 16, "0000000000000000"}, {0xabc, 1, "abc"},
        {0xabc, 4, "0abc"}, {0x12345, 2, "12345"},       {UINT64_MAX, 1, "ffffffffffffffff"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct text t = start(sizeof(buffer));
        text_hex(&t, rows[i].value, rows[i].width);
        assert_string_equal(t.data, rows[i].text);
    }
}

/* Every kind of append, at every capacity: nothing past it, always terminated, `cut` says so. */
static void what_does_not_fit_is_cut(void **state)
{
    (void)state;
    for (size_t capacity = 1; capacity <= 24; capacity++) {
        struct text t = start(capacity);
        text_puts(&t, "12345");
        text_printf(&t, "%s", "67890");
        text_int(&t, -12);
        text_json(&t, "a\"b", 3);
        text_quoted(&t, "'c'");
        bool fits = capacity > 5 + 5 + 3 + 6 + 3;
        assert_int_equal(t.cut, !fits);
        assert_true(t.size < capacity);
        assert_int_equal(strlen(t.data), t.size);
        assert_int_equal(buffer[capacity], '#');
        assert_memory_equal(t.data, "1234567890-12\"a\\\"b\"\"c\"", t.size);
    }
}

static void cut_stays_so(void **state)
{
    struct text t = start(4);
    (void)state;
    text_puts(&t, "12345");
    text_puts(&t, "");
    assert_true(t.cut);
    assert_string_equal(t.data, "123");
}

static void expect_json(const char *string, size_t size, const char *json)
{
    struct text t = start(sizeof(buffer));
    text_json(&t, string, size);
    assert_string_equal(t.data, json);
}

static void strings_are_escaped(void **state)
{
    (void)state;
    expect_json("", 0, "\"\"");
    expect_json("a\"\\/b", 5, "\"a\\\"\\\\/b\"");
    expect_json("\b\n\r\t\x1f\x7f", 6, "\"\\b\\n\\r\\t\\u001f\x7f\"");
    expect_json("a\0b", 3, "\"a\\u0000b\"");
    expect_json("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 11,
                "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
#define U "\xEF\xBF\xBD"
    (void)state;
    expect_json("a\xff"
                "b",
                3, "\"a" U "b\"");
    expect_json("\xc3", 1, "\"" U "\"");
    expect_json("\xe2\x82", 2, "\"" U U "\"");
    expect_json("\xc0\x81", 2, "\"" U U "\""); /* overlong */
    expect_json("\xc0", 1, "\"" U "\"");
    expect_json("a\xc0\x80\xc0", 4, "\"a\\u0000" U "\"");       /* TEXT_NUL */
    expect_json("\xed\xa0\x80", 3, "\"" U U U "\"");            /* a surrogate */
    expect_json("\xf4\x90\x80\x80", 4, "\"" U U U U "\"");      /* above U+10FFFF */
    expect_json("\xf4\x8f\xbf\xbf", 4, "\"\xf4\x8f\xbf\xbf\""); /* U+10FFFF itself */
    expect_json("\xe0\x9f\xbf\xee\x80\x80", 6, "\"" U U U "\xee\x80\x80\"");
#undef U
}

static void shapes_and_padding(void **state)
{
    struct text t = start(sizeof(buffer));
    struct tensor scalar = {.rank = 0}, matrix = {.rank = 2, .shape = {3, INT64_MAX}};
    (void)state;
    text_shape(&t, &scalar);
    text_shape(&t, &matrix);
    assert_string_equal(t.data, "[][3,9223372036854775807]");
    text_pad(&t, 1, 8);
    assert_int_equal(t.size, 25);
    text_pad(&t, 2, 8);
    assert_string_equal(t.data, "[][3,9223372036854775807] ");
}

static void element_types_by_name(void **state)
{
    struct text t = start(sizeof(buffer));
    dtype_set set = DTYPE_BIT(INT32) | DTYPE_BIT(C128) | DTYPE_BIT(BOOL);
    (void)state;
    text_dtypes(&t, set, dtype_name);
    text_puts(&t, "|");
    text_dtypes(&t, set, dtype_safetensors_name);
    assert_string_equal(t.data, "BOOL, INT32, C128|BOOL, I32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_follow_one_another),
        cmocka_unit_test(hexadecimals_have_their_width_at_least),
        cmocka_unit_test(integers_of_every_length),
        cmocka_unit_test(what_does_not_fit_is_cut),
        cmocka_unit_test(cut_stays_so),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(shapes_and_padding),
        cmocka_unit_test(element_types_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
