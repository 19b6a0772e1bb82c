/* json_scan: texts that are not JSON, and the byte where they cease to be. Texts are written with '
 * for ". */
#include "tests/support/proto/scan_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void malformed_texts(void **state)
{
    static const struct {
        const char *text;
        int byte;
    } rows[] = {
        {"", 0},
        {"  ", 2},
        {"x", 0},
        {"{", 1},
        {"{'a'", 4},
        {"{'a' 1}", 5},
        {"{'a':}", 5},
        {"{'a':1,}", 7},
        {"{,}", 1},
        {"{a:1}", 1},
        {"{'a':1 'b':2}", 7},
        {"{'inputs':[]", 12},
        {"{'inputs':[]} x", 14},
        {"{}{}", 2},
        {"[1,]", 3},
        {"[,1]", 1},
        {"[1 2]", 3},
        {"[1}", 2},
        {"{'a':[1}", 7},
        {"[01]", 1},
        {"[+1]", 1},
        {"[.5]", 1},
        {"[1.]", 1},
        {"[1e]", 1},
        {"[0x1]", 2},
        {"[-]", 1},
        {"[NaN]", 1},
        {"[Infinity]", 1},
        {"[-Infinity]", 1},
        {"[True]", 1},
        {"[tru]", 1},
        {"[truex]", 5},
        {"[nul]", 1},
        {"['a]", 4},
        {"['\\x']", 2},
        {"['\\", 2},
        {"['\\u12']", 2},
        {"['\\u12G4']", 2},
        {"['a\nb']", 3},
        {"['a\tb']", 3},
        {"\xEF\xBB\xBF{}", 0},
        {"[\x80]", 1},
        {"{'inputs':[{'data':[1,2}]}", 23},
        {"{'inputs':[{'data':[1,2]]}", 24},
        {"{'inputs':[{'data':{'a':1]}]}", 25},
        {"{'inputs':[{'data':[1,2", 23},
        {"{'inputs':[{'data':['a]}]}", 26},
        {"{'inputs':[{'data':[1,\xC3\xA9]}]}", 22},
        {"{'inputs':[{'data':[1,2,3,4,5,6,7,8,9,\xC3\xA9,1,2,3,4,5,6,7,8,9]}]}", 38},
        {"{'inputs':[{'data':,}]}", 19},
        {"{'inputs':[{'data':", 19},
        {"{'inputs':[{'data':1 2}]}", 21},
        {"{'inputs':{'a':}}", 15},
        {"{'inputs':{'a':", 15},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        scan_json_expect_fault(rows[i].text, rows[i].byte);
}

static void strings_are_utf8_everywhere(void **state)
{
    static const struct {
        const char *bytes;
        bool good;
    } rows[] = {
        {"\x7F", true},
        {"\xC2\x80", true},
        {"\xDF\xBF", true},
        {"\xE0\xA0\x80", true},
        {"\xED\x9F\xBF", true},
        {"\xEF\xBF\xBF", true},
        {"\xF0\x90\x80\x80", true},
        {"\xF4\x8F\xBF\xBF", true},
        {"\x80", false},
        {"\xC0\x80", false},
        {"\xC1\xBF", false},
        {"\xC2", false},
        {"\xC2\x41", false},
        {"\xE0\x9F\xBF", false},
        {"\xE2\x82", false},
        {"\xED\xA0\x80", false},
        {"\xF0\x8F\xBF\xBF", false},
        {"\xF4\x90\x80\x80", false},
        {"\xF5\x80\x80\x80", false},
        {"\xFF", false},
        {"\xE2\x82\xC3", false},
    };
    static const char *const places[] = {"['%s']", "{'%s':1}", "{'inputs':[{'data':['%s']}]}",
                                         "['more than sixteen bytes %s and more than sixteen']"};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
            char text[128];
            snprintf(text, sizeof(text), places[p], rows[i].bytes);
            if (rows[i].good)
                scan_json_expect_good(text);
            else
                scan_json_expect_fault(text, (int)(strchr(places[p], '%') - places[p]));
        }
}

static void surrogates_come_in_pairs(void **state)
{
    static const char *const places[] = {"['%s']", "{'inputs':[{'data':['%s']}]}"};
    static const struct {
        const char *text;
        int byte; /* of the fault; -1: none */
    } rows[] = {{"\\uD83D\\uDE00", -1}, {"\\ud83d\\ude00x", -1}, {"\\uD83D", 0},
                {"\\uDE00", 0},         {"\\uD83Dx", 0},         {"\\uD83D\\u0041", 0},
                {"a\\uD83D\\uD83D", 1}, {"\\uDE00\\uD83D", 0},   {"\\uD83D\\n", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
            char text[64];
            snprintf(text, sizeof(text), places[p], rows[i].text);
            if (rows[i].byte < 0)
                scan_json_expect_good(text);
            else
                scan_json_expect_fault(text,
                                       (int)(strchr(places[p], '%') - places[p]) + rows[i].byte);
        }
}

static void an_escaped_nul_is_json(void **state)
{
    (void)state;
    scan_json_expect_good("{'id':'a\\u0000'}");
    scan_json_expect_good("{'a\\u0000':1,'a':2,'a\\u0000b':3}");
    scan_json_expect_fault("{'a\\u0000':1,'a\\u0000':2}", 13);
    scan_json_expect_good("{'inputs':[{'data':['a\\u0000b']}]}");
    scan_json_expect_good("{'id':'\\u0001\\\\u0000'}");
}

static void repeat(char *text, const char *part, int times)
{
    for (size_t size = strlen(part); times > 0; times--, text += size)
        memcpy(text, part, size + 1);
}

static void depth_is_bounded(void **state)
{
    static const struct {
        const char *head, *open, *close, *tail;
        int outside; /* arrays and objects that are open already */
    } rows[] = {{"", "[", "]", "", 0},
                {"{'inputs':[{'data':", "[", "]", "}]}", 3},
                {"{'inputs':{'a':", "[", "]", "}}", 2},
                {"", "{'a':", "}", "", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
            char open[256], close[64], text[512];
            repeat(open, rows[i].open, depth - rows[i].outside);
            repeat(close, rows[i].close, depth - rows[i].outside);
            snprintf(text, sizeof(text), "%s%s1%s%s", rows[i].head, open, close, rows[i].tail);
            if (depth == JSON_DEPTH_MAX)
                scan_json_expect_good(text);
            else
                scan_json_expect_fault(
                    text, (int)(strlen(rows[i].head) + strlen(open) - strlen(rows[i].open)));
        }
}

/* ----------------------------------------------------------------------------------------- keys */

static void keys_come_once(void **state)
{
    (void)state;
    scan_json_expect_fault("{'id':'a','id':'b'}", 10);
    scan_json_expect_fault("{'a':1,'b':2,'a':3,'b':4}", 13);
    scan_json_expect_fault("{'a':{'x':1,'y':2,'x':3},'a':1}", 18);
    scan_json_expect_fault("{'inputs':[{'data':[1],'data':[2]}]}", 23);
    scan_json_expect_fault("{'inputs':{'a':[1],'a':[2]}}", 19);
    scan_json_expect_fault("{'b':1,'a':1,'\\u0061':1}", 13);
    scan_json_expect_fault("{'':1,'':2}", 6);
    scan_json_expect_good("{'a':{'a':{'a':1}},'b':[{'a':1},{'a':1}]}");
    scan_json_expect_good("{'a':1,'A':1,'aa':1,'':1}");
    scan_json_expect_good("{'inputs':[{'data':[{'a':1,'a':1}]}]}");
}

static void keys_come_once_among_many(void **state)
{
    enum { MANY = 5000 };
    (void)state;
    for (int repeated = 0; repeated <= 1; repeated++) {
        char *text = malloc(MANY * 16), *end = text;
        int byte = 0;
        *end++ = '{';
        for (int i = 0; i < MANY; i++) {
            if (repeated && i == MANY / 2)
                byte = (int)(end - text);
            int key = repeated && i >= MANY / 2 ? i - MANY / 2 : i;
            end += sprintf(end, "'%x':1,", key * 7919);
        }
        strcpy(end - 1, "}");
        if (repeated)
            scan_json_expect_fault(text, byte);
        else
            scan_json_expect_good(text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_texts),           cmocka_unit_test(strings_are_utf8_everywhere),
        cmocka_unit_test(surrogates_come_in_pairs),  cmocka_unit_test(an_escaped_nul_is_json),
        cmocka_unit_test(depth_is_bounded),          cmocka_unit_test(keys_come_once),
        cmocka_unit_test(keys_come_once_among_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
