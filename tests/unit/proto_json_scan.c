/* json_scan: what is cut out of a text, and what it takes. Texts are written with ' for ". */
#include "tests/support/proto/quote.h"
#include "tests/support/proto/scan_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The envelope with its numbers as JSON writes them. */
static char *readable(const char *envelope)
{
    char *text = strdup(envelope), *out = text;
    for (const char *at = envelope; *at;) {
        if (strncmp(at, "\"" JSON_NUMBER_MARK, 2) == 0) {
            const char *end = strchr(at + 2, '"');
            memcpy(out, at + 2, (size_t)(end - at - 2));
            out += end - at - 2;
            at = end + 1;
        } else {
            *out++ = *at++;
        }
    }
    *out = '\0';
    return text;
}

/* cuts: the values that were cut out, with a | after each. */
static void expect_cuts(const char *text, const char *envelope, const char *cuts)
{
    struct scan_json a;
    char *wanted = quote(envelope), *values = quote(cuts), *next = values;
    scan_json_init(&a);
    scan_json_text(&a, text);
    if (a.code)
        fail_msg("%s: %s", text, a.error.message);
    char *found = readable(a.scan.envelope);
    assert_string_equal(found, wanted);
    assert_int_equal(a.scan.envelope_size, strlen(a.scan.envelope));
    free(found);
    for (int i = 0; i < a.scan.cut_count; i++) {
        struct json_cut cut = a.scan.cuts[i];
        if (strncmp(next, a.text + cut.offset, cut.size) != 0 || next[cut.size] != '|')
            fail_msg("%s: cut %d is %.*s", text, i, (int)cut.size, a.text + cut.offset);
        next += cut.size + 1;
    }
    assert_int_equal(*next, '\0');
    free(wanted);
    free(values);
    scan_json_release(&a);
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
    struct scan_json a;
    (void)state;
    end += sprintf(end, "{'inputs':{");
    for (int i = 0; i < MANY; i++)
        end += sprintf(end, "%s'%d':%d", i ? "," : "", i, i % 10);
    strcpy(end, "}}");
    scan_json_init(&a);
    scan_json_text(&a, text);
    assert_int_equal(a.code, ERROR_NONE);
    assert_int_equal(a.scan.cut_count, MANY);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(a.text[a.scan.cuts[i].offset], '0' + i % 10);
    assert_non_null(strstr(a.scan.envelope, "\"2999\":2999}}"));
    scan_json_release(&a);
    free(text);
}

static void expect_envelope(const char *text, const char *wanted)
{
    struct scan_json a;
    scan_json_init(&a);
    scan_json_text(&a, text);
    assert_int_equal(a.code, ERROR_NONE);
    assert_string_equal(a.scan.envelope, wanted);
    scan_json_release(&a);
}

static void numbers_of_the_envelope_stay_as_they_were_written(void **state)
{
    (void)state;
    expect_envelope("[1,-0.50e+3, 2]", "[\"\xFF"
                                       "1\",\"\xFF-0.50e+3\",\"\xFF"
                                       "2\"]");
    expect_envelope("{'inputs':{'a':7}}", "{\"inputs\":{\"a\":0}}");
    expect_envelope("7", "\"\xFF"
                         "7\"");
}

static void a_nul_does_not_end_a_string(void **state)
{
    (void)state;
    expect_envelope("{'a\\u0000b':'\\u0000'}", "{\"a\xC0\x80"
                                               "b\":\"\xC0\x80\"}");
    expect_envelope("['\\\\u0000\\u0000\\n\\u0001']", "[\"\\\\u0000\xC0\x80\\n\\u0001\"]");
}

/* A number takes three bytes more in the envelope, and there may be nothing but numbers. */
static void an_envelope_grows_with_its_marks(void **state)
{
    enum { MANY = 5000 };
    char *text = malloc(2 * MANY + 2);
    struct scan_json a;
    (void)state;
    for (int i = 0; i < MANY; i++)
        memcpy(text + 2 * i, i ? ",1" : "[1", 2);
    strcpy(text + 2 * MANY, "]");
    scan_json_init(&a);
    scan_json_text(&a, text);
    assert_int_equal(a.code, ERROR_NONE);
    assert_int_equal(a.scan.envelope_size, 5 * MANY + 1);
    char *found = readable(a.scan.envelope);
    assert_string_equal(found, text);
    free(found);
    scan_json_release(&a);
    free(text);
}

/* --------------------------------------------------------------------------------------- bounds */

static void the_envelope_is_bounded(void **state)
{
    size_t size = 2 * SCAN_JSON_REST_MAX;
    char *text = malloc(size + 64);
    struct scan_json a;
    (void)state;
    sprintf(text, "{'a':'%*s'}", SCAN_JSON_REST_MAX - 8, "");
    scan_json_expect_good(text);
    sprintf(text, "{'a':'%*s'}", SCAN_JSON_REST_MAX - 7, "");
    scan_json_init(&a);
    scan_json_text(&a, text);
    assert_int_equal(a.code, ERROR_INVALID_JSON);
    assert_non_null(strstr(a.error.message, "262144"));
    scan_json_release(&a);
    sprintf(text, "{'inputs':[{'data':'%*s'}]}", (int)size, "");
    scan_json_expect_good(text);
    sprintf(text, "{%*s}", (int)size, "");
    scan_json_expect_good(text);
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
        struct scan_json a;
        scan_json_init(&a);
        scan_json_bytes(&a, text, size);
        assert_int_equal(a.code, ERROR_INVALID_JSON);
        scan_json_release(&a);
    }
    scan_json_expect_good(sample);
    free(text);
}

static void no_memory_is_an_error(void **state)
{
    char *text = quote(sample);
    (void)state;
    enum error_code code = ERROR_RESOURCE_EXHAUSTED;
    size_t n;
    for (n = 1; code == ERROR_RESOURCE_EXHAUSTED; n++) {
        struct scan_json a;
        scan_json_init(&a);
        a.memory.fail_at = n;
        scan_json_bytes(&a, text, strlen(text));
        code = a.code;
        scan_json_release(&a);
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
    struct scan_json a;
    (void)state;
    sprintf(text, "{\"inputs\":[{\"data\":[%0*d]}]}", size, 1);
    scan_json_init(&a);
    a.memory.work.stop = &stop;
    scan_json_bytes(&a, text, strlen(text));
    assert_int_equal(a.code, ERROR_CANCELLED);
    scan_json_release(&a);
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
        cmocka_unit_test(numbers_of_the_envelope_stay_as_they_were_written),
        cmocka_unit_test(a_nul_does_not_end_a_string),
        cmocka_unit_test(an_envelope_grows_with_its_marks),
        cmocka_unit_test(the_envelope_is_bounded),
        cmocka_unit_test(every_beginning_of_a_text_is_refused),
        cmocka_unit_test(no_memory_is_an_error),
        cmocka_unit_test(a_stopped_scan_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
