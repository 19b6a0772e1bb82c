/* json_scan: the whole text is checked, and the tensors' values are cut out of it. Texts are
 * written with ' for ". */
#include "proto/json_scan.h"
#include "tests/support/quote.h"
#include "tests/support/test_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One scan: the text lies in a block of exactly its size, so that a sanitizer sees a byte too far.
 */
struct attempt {
    struct test_memory memory;
    struct json_scan scan;
    struct error error;
    enum error_code code;
    char *text;
};

static void scan_bytes(struct attempt *a, const char *text, size_t size)
{
    a->text = malloc(size > 0 ? size : 1);
    assert_non_null(a->text);
    memcpy(a->text, text, size);
    error_clear(&a->error);
    a->code = json_scan(&a->scan, a->text, size, &a->memory.work, &a->error);
}

static void scan(struct attempt *a, const char *text)
{
    char *quoted = quote(text);
    test_memory_init(&a->memory);
    scan_bytes(a, quoted, strlen(quoted));
    free(quoted);
}

static void release(struct attempt *a)
{
    test_memory_clear(&a->memory);
    free(a->text);
}

static void expect_fault(const char *text, int byte)
{
    struct attempt a;
    char place[32];
    scan(&a, text);
    snprintf(place, sizeof(place), "byte %d of", byte);
    if (byte == (int)strlen(text))
        snprintf(place, sizeof(place), "ends at byte %d;", byte);
    if (a.code != ERROR_INVALID_JSON || !strstr(a.error.message, place))
        fail_msg("%s: %s: %s (expected byte %d)", text, error_name(a.code),
                 a.code ? a.error.message : "", byte);
    release(&a);
}

static void expect_good(const char *text)
{
    struct attempt a;
    scan(&a, text);
    if (a.code)
        fail_msg("%s: %s", text, a.error.message);
    release(&a);
}

/* ----------------------------------------------------------------------------------- what is cut
 */

/* cuts: the values that were cut out, with a | after each. */
static void expect_cuts(const char *text, const char *envelope, const char *cuts)
{
    struct attempt a;
    char *wanted = quote(envelope), *values = quote(cuts), *next = values;
    scan(&a, text);
    if (a.code)
        fail_msg("%s: %s", text, a.error.message);
    assert_string_equal(a.scan.envelope, wanted);
    assert_int_equal(a.scan.envelope_size, strlen(wanted));
    for (int i = 0; i < a.scan.cut_count; i++) {
        struct json_cut cut = a.scan.cuts[i];
        if (strncmp(next, a.text + cut.offset, cut.size) != 0 || next[cut.size] != '|')
            fail_msg("%s: cut %d is %.*s", text, i, (int)cut.size, a.text + cut.offset);
        next += cut.size + 1;
    }
    assert_int_equal(*next, '\0');
    free(wanted);
    free(values);
    release(&a);
}

static void data_of_inputs_is_cut(void **state)
{
    (void)state;
    expect_cuts("{'inputs':[{'name':'a','data':[1,2]},{'data':[[3],[4]],'name':'b'}]}",
                "{'inputs':[{'name':'a','data':0},{'data':1,'name':'b'}]}", "[1,2]|[[3],[4]]|");
    expect_cuts("{'inputs':{'a':{'data':[1]},'b':{'shape':[],'data':5}}}",
                "{'inputs':{'a':{'data':0},'b':{'shape':[],'data':1}}}", "[1]|5|");
    expect_cuts("{'inputs':[{'data':'x'},{'data':true},{'data':-1e5},{'data':{}}]}",
                "{'inputs':[{'data':0},{'data':1},{'data':2},{'data':3}]}", "'x'|true|-1e5|{}|");
    expect_cuts("{'inputs':[{'data':null}]}", "{'inputs':[{'data':null}]}", "");
    expect_cuts("{'inputs':[{'data':NaN},{'data':Infinity}]}", "{'inputs':[{'data':0},{'data':1}]}",
                "NaN|Infinity|");
}

static void short_inputs_are_cut(void **state)
{
    (void)state;
    expect_cuts("{'inputs':{'tensor':[1,2,3],'indices':[[1]],'updates':5}}",
                "{'inputs':{'tensor':0,'indices':1,'updates':2}}", "[1,2,3]|[[1]]|5|");
    expect_cuts("{'inputs':{'a':null,'b':'s'}}", "{'inputs':{'a':0,'b':1}}", "null|'s'|");
}

static void nothing_else_is_cut(void **state)
{
    static const char *const texts[] = {
        "{'data':[1]}",
        "{'parameters':{'data':[1]},'inputs':[]}",
        "{'outputs':[{'data':[1]}]}",
        "{'inputs':[{'parameters':{'data':[1]}}]}",
        "{'inputs':[[{'data':[1]}]]}",
        "{'inputs':[{'a':{'data':1}}]}",
        "{'inputs':{'a':{'b':{'data':1}}}}",
        "{'x':{'inputs':[{'data':[1]}]}}",
        "[{'inputs':[{'data':[1]}]}]",
        "{'inputs':5}",
        "5",
        "'inputs'",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        expect_cuts(texts[i], texts[i], "");
}

static void keys_are_known_by_their_value(void **state)
{
    (void)state;
    expect_cuts("{'\\u0069nputs':[{'d\\u0061ta':[1],'data\\\\':[2]}]}",
                "{'\\u0069nputs':[{'d\\u0061ta':0,'data\\\\':[2]}]}", "[1]|");
}

static void space_is_left_out(void **state)
{
    (void)state;
    expect_cuts(" \r\n\t{ 'a' : [ 1 , 2 ] , 'inputs' : [ { 'data' : [ 1,\n 2 ] } ] } \n",
                "{'a':[1,2],'inputs':[{'data':0}]}", "[ 1,\n 2 ]|");
}

static void the_inside_of_strings_is_no_structure(void **state)
{
    (void)state;
    expect_cuts("{'inputs':[{'data':['],[','}\\'{','\\\\']}],'a':'}]'}",
                "{'inputs':[{'data':0}],'a':'}]'}", "['],[','}\\'{','\\\\']|");
}

static void many_values_are_cut(void **state)
{
    enum { MANY = 3000 };
    char *text = malloc(MANY * 16), *end = text;
    struct attempt a;
    (void)state;
    end += sprintf(end, "{'inputs':{");
    for (int i = 0; i < MANY; i++)
        end += sprintf(end, "%s'%d':%d", i ? "," : "", i, i % 10);
    strcpy(end, "}}");
    scan(&a, text);
    assert_int_equal(a.code, ERROR_NONE);
    assert_int_equal(a.scan.cut_count, MANY);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(a.text[a.scan.cuts[i].offset], '0' + i % 10);
    assert_non_null(strstr(a.scan.envelope, "\"2999\":2999}}"));
    release(&a);
    free(text);
}

/* --------------------------------------------------------------------------------- what is refused
 */

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
        {"{'inputs':[{'data':,}]}", 19},
        {"{'inputs':[{'data':", 19},
        {"{'inputs':[{'data':1 2}]}", 21},
        {"{'inputs':{'a':}}", 15},
        {"{'inputs':{'a':", 15},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect_fault(rows[i].text, rows[i].byte);
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
                expect_good(text);
            else
                expect_fault(text, (int)(strchr(places[p], '%') - places[p]));
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
                expect_good(text);
            else
                expect_fault(text, (int)(strchr(places[p], '%') - places[p]) + rows[i].byte);
        }
}

static void nul_is_for_data_only(void **state)
{
    (void)state;
    expect_fault("{'id':'a\\u0000'}", 8);
    expect_fault("{'a\\u0000':1}", 3);
    expect_good("{'inputs':[{'data':['a\\u0000b']}]}");
    expect_good("{'id':'\\u0001\\\\u0000'}");
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
                expect_good(text);
            else
                expect_fault(text,
                             (int)(strlen(rows[i].head) + strlen(open) - strlen(rows[i].open)));
        }
}

/* ------------------------------------------------------------------------------------------- keys
 */

static void keys_come_once(void **state)
{
    (void)state;
    expect_fault("{'id':'a','id':'b'}", 10);
    expect_fault("{'a':1,'b':2,'a':3,'b':4}", 13);
    expect_fault("{'a':{'x':1,'y':2,'x':3},'a':1}", 18);
    expect_fault("{'inputs':[{'data':[1],'data':[2]}]}", 23);
    expect_fault("{'inputs':{'a':[1],'a':[2]}}", 19);
    expect_fault("{'b':1,'a':1,'\\u0061':1}", 13);
    expect_fault("{'':1,'':2}", 6);
    expect_good("{'a':{'a':{'a':1}},'b':[{'a':1},{'a':1}]}");
    expect_good("{'a':1,'A':1,'aa':1,'':1}");
    expect_good("{'inputs':[{'data':[{'a':1,'a':1}]}]}");
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
            expect_fault(text, byte);
        else
            expect_good(text);
        free(text);
    }
}

/* ----------------------------------------------------------------------------------------- bounds
 */

static void the_envelope_is_bounded(void **state)
{
    size_t size = 2 * JSON_ENVELOPE_MAX;
    char *text = malloc(size + 64);
    struct attempt a;
    (void)state;
    sprintf(text, "{'a':'%*s'}", JSON_ENVELOPE_MAX - 8, "");
    expect_good(text);
    sprintf(text, "{'a':'%*s'}", JSON_ENVELOPE_MAX - 7, "");
    scan(&a, text);
    assert_int_equal(a.code, ERROR_INVALID_JSON);
    assert_non_null(strstr(a.error.message, "262144"));
    release(&a);
    sprintf(text, "{'inputs':[{'data':'%*s'}]}", (int)size, "");
    expect_good(text);
    sprintf(text, "{%*s}", (int)size, "");
    expect_good(text);
    free(text);
}

static const char sample[] =
    "{'id':'a\\n','inputs':[{'name':'x','shape':[2],'data':[1.5,'\\u00e9']},"
    "{'\\u0061':1,'data':[[3],[4]]}],'p':{'q':[true,false,null,-1e5]}}";

static void every_beginning_of_a_text_is_refused(void **state)
{
    char *text = quote(sample);
    (void)state;
    for (size_t size = 0; size < strlen(text); size++) {
        struct attempt a;
        test_memory_init(&a.memory);
        scan_bytes(&a, text, size);
        assert_int_equal(a.code, ERROR_INVALID_JSON);
        release(&a);
    }
    expect_good(sample);
    free(text);
}

static void no_memory_is_an_error(void **state)
{
    char *text = quote(sample);
    (void)state;
    enum error_code code = ERROR_RESOURCE_EXHAUSTED;
    size_t n;
    for (n = 1; code == ERROR_RESOURCE_EXHAUSTED; n++) {
        struct attempt a;
        test_memory_init(&a.memory);
        a.memory.fail_at = n;
        scan_bytes(&a, text, strlen(text));
        code = a.code;
        release(&a);
    }
    assert_int_equal(code, ERROR_NONE);
    assert_true(n > 3);
    free(text);
}

static void a_stopped_scan_ends(void **state)
{
    static const atomic_bool stop = true;
    int size = 1024 * 1024;
    char *text = malloc((size_t)size + 64);
    struct attempt a;
    (void)state;
    sprintf(text, "{\"inputs\":[{\"data\":[%0*d]}]}", size, 1);
    test_memory_init(&a.memory);
    a.memory.work.stop = &stop;
    scan_bytes(&a, text, strlen(text));
    assert_int_equal(a.code, ERROR_CANCELLED);
    release(&a);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_of_inputs_is_cut),
        cmocka_unit_test(short_inputs_are_cut),
        cmocka_unit_test(nothing_else_is_cut),
        cmocka_unit_test(keys_are_known_by_their_value),
        cmocka_unit_test(space_is_left_out),
        cmocka_unit_test(the_inside_of_strings_is_no_structure),
        cmocka_unit_test(many_values_are_cut),
        cmocka_unit_test(malformed_texts),
        cmocka_unit_test(strings_are_utf8_everywhere),
        cmocka_unit_test(surrogates_come_in_pairs),
        cmocka_unit_test(nul_is_for_data_only),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(keys_come_once),
        cmocka_unit_test(keys_come_once_among_many),
        cmocka_unit_test(the_envelope_is_bounded),
        cmocka_unit_test(every_beginning_of_a_text_is_refused),
        cmocka_unit_test(no_memory_is_an_error),
        cmocka_unit_test(a_stopped_scan_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
