/* An envelope that was read before says the same again: with other elements, and only for the same
 * operation, encoding and rules. */
#include "proto/request/recall.h"
#include "tests/support/proto/infer.h"
#include "tests/support/proto/quote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct infer f;

static int setup(void **state)
{
    (void)state;
    infer_init(&f);
    f.memory.work.recall = recall_new();
    return f.memory.work.recall ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    recall_free(f.memory.work.recall);
    infer_release(&f);
    return 0;
}

/* Single quotes stand for double ones. */
static enum error_code decode(const char *op, const char *json)
{
    char *text = quote(json);
    f.memory.gets = 0;
    enum error_code code = infer_decode(&f, op, text, strlen(text));
    free(text);
    return code;
}

static void expect_answer(const char *op, const char *json, const char *data)
{
    char *text = quote(json);
    assert_int_equal(infer_answer(&f, op, text, strlen(text)), ERROR_NONE);
    free(text);
    assert_non_null(memmem(f.response.data, f.response.size, data, strlen(data)));
}

#define ADD(tensor, index, updates)                                                                \
    "{'inputs':{'tensor':" tensor ",'indices':[[" index "]],'updates':" updates "}}"

static void other_elements_in_the_same_envelope(void **state)
{
    (void)state;
    expect_answer("tensor_scatter_add", ADD("[1,2]", "0", "[5]"), "[6.0,2.0]");
    expect_answer("tensor_scatter_add", ADD("[10,20]", "1", "[7]"), "[10.0,27.0]");
    expect_answer("tensor_scatter_add", ADD("[[1,2],[3,4]]", "1", "[[1,1]]"), "[1.0,2.0,4.0,5.0]");
}

static void the_second_time_takes_memory_for_the_elements_alone(void **state)
{
    (void)state;
    assert_int_equal(decode("tensor_scatter_add", ADD("[1,2]", "0", "[5]")), ERROR_NONE);
    assert_true(f.memory.gets > 3);
    assert_int_equal(decode("tensor_scatter_add", ADD("[3,4]", "1", "[6.25]")), ERROR_NONE);
    assert_int_equal(f.memory.gets, 3);
}

/* With and without a recall that knows the text as it was, the same is said of one that differs. */
static void expect_the_same(const char *text, size_t size)
{
    struct recall *recall = f.memory.work.recall;
    enum error_code code = infer_decode(&f, "tensor_scatter_add", text, size);
    struct error said = f.error;
    struct tensor inputs[OP_INPUTS_MAX];
    char id[sizeof f.request.id];
    memcpy(id, f.request.id, sizeof id);
    memcpy(inputs, f.request.inputs, sizeof inputs);
    f.memory.work.recall = NULL;
    assert_int_equal(infer_decode(&f, "tensor_scatter_add", text, size), code);
    f.memory.work.recall = recall;
    if (code != ERROR_NONE)
        assert_string_equal(f.error.message, said.message);
    else
        assert_string_equal(f.request.id, id);
    for (int i = 0; i < 3 && code == ERROR_NONE; i++) {
        const struct tensor *t = &f.request.inputs[i];
        assert_int_equal(t->dtype, inputs[i].dtype);
        assert_int_equal(t->rank, inputs[i].rank);
        assert_memory_equal(t->shape, inputs[i].shape, (size_t)t->rank * sizeof t->shape[0]);
    }
}

/* Each byte in turn is left out, replaced and doubled. */
static void every_change_of_a_text_is_seen(void **state)
{
    static const char *const texts[] = {
        "{'inputs':{'tensor':[1,2],'indices':[[0],[1]],'updates':{'data':[5,6]}},'id':'x'}",
        "{'id':'','inputs':{'tensor':[1],'indices':[[0]],'updates':[5]}}",
        "{'parameters':{'id':'x'},'id':'ab','inputs':{'tensor':[1],'indices':[[0]],'updates':[5]}}",
        "{'inputs':[{'name':'tensor','shape':[2],'datatype':'INT8','data':[1,2]},"
        "{'name':'indices','datatype':'INT32','shape':[1,1],'data':[0]},"
        "{'name':'updates','datatype':'INT8','shape':[1],'data':[7]}]} "};
    static const char others[] = "[]{}\",:nt0 \\\x80";
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *text = quote(texts[i]), changed[512];
        size_t size = strlen(text);
        for (size_t at = 0; at < size; at++) {
            assert_int_equal(infer_decode(&f, "tensor_scatter_add", text, size), ERROR_NONE);
            memcpy(changed, text, at);
            memcpy(changed + at, text + at + 1, size - at - 1);
            expect_the_same(changed, size - 1);
            memcpy(changed + at, text + at, size - at);
            for (const char *other = others; *other; other++) {
                changed[at] = *other;
                expect_the_same(changed, size);
            }
            memcpy(changed + at + 1, text + at, size - at);
            changed[at] = text[at];
            expect_the_same(changed, size + 1);
        }
        free(text);
    }
}

static void what_is_no_list_is_read_anew(void **state)
{
    (void)state;
    assert_int_equal(decode("tensor_scatter_add", ADD("[1,2]", "0", "[5]")), ERROR_NONE);
    assert_int_equal(decode("tensor_scatter_add",
                            "{'inputs':{'tensor':{'data':[1,2],'datatype':'INT8'},'indices':[[0]],"
                            "'updates':[5]}}"),
                     ERROR_NONE);
    assert_int_equal(f.request.inputs[0].dtype, DTYPE_INT8);
    assert_int_equal(decode("tensor_scatter_add", ADD("null", "0", "[5]")), ERROR_INVALID_FIELD);
}

static void lists_may_not_be_deeper_for_being_recalled(void **state)
{
    char deep[2 * 31 + 1];
    char json[256];
    (void)state;
    memset(deep, '[', 31);
    memset(deep + 31, ']', 31);
    deep[62] = '\0';
    assert_int_equal(decode("tensor_scatter_add", ADD("[1,2]", "0", "[5]")), ERROR_NONE);
    for (int cut = 0; cut < 2; cut++) {
        snprintf(json, sizeof json, ADD("%.*s", "0", "[5]"), 62 - 2 * cut, deep + cut);
        char *text = quote(json);
        expect_the_same(text, strlen(text));
        free(text);
    }
}

static void the_oldest_of_many_texts_is_forgotten(void **state)
{
    char json[256];
    (void)state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 100; i++) {
            snprintf(json, sizeof json,
                     "{'parameters':{'timeout':%d},'inputs':{'tensor':[1,2],'indices':[[0]],"
                     "'updates':[1]}}",
                     i + 1);
            assert_int_equal(decode("tensor_scatter_add", json), ERROR_NONE);
            assert_int_equal(f.request.timeout_us, i + 1);
        }
}

static void a_text_too_long_to_be_kept_is_read_each_time(void **state)
{
    char json[2048];
    (void)state;
    snprintf(json, sizeof json, "{'inputs':{'tensor':[1,2],%1500s'indices':[[0]],'updates':[1]}}",
             "");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(decode("tensor_scatter_add", json), ERROR_NONE);
        assert_true(f.memory.gets > 3);
    }
}

/* The first request without its elements is the second. */
static void what_is_left_of_a_text_is_not_mistaken_for_a_text(void **state)
{
    (void)state;
    assert_int_equal(decode("tensor_scatter_add", ADD("[1,2]", "0", "[5]")), ERROR_NONE);
    assert_int_equal(f.request.inputs[0].rank, 1);
    assert_int_equal(
        decode("tensor_scatter_add", "{'inputs':{'tensor':0,'indices':1,'updates':2}}"),
        ERROR_NONE);
    for (int i = 0; i < 3; i++)
        assert_int_equal(f.request.inputs[i].rank, 0);
}

static void another_operation_is_not_mistaken_for_it(void **state)
{
    (void)state;
    expect_answer("tensor_scatter_add", ADD("[1,2]", "0", "[5]"), "[6.0,2.0]");
    expect_answer("tensor_scatter_sub", ADD("[1,2]", "0", "[5]"), "[-4.0,2.0]");
    expect_answer("TensorScatterAdd", ADD("[1,2]", "0", "[5]"), "TensorScatterAdd");
}

static void ids_and_parameters_are_those_of_each_request(void **state)
{
    (void)state;
    assert_int_equal(decode("tensor_scatter_add",
                            "{'id':'a','parameters':{'timeout':5},'inputs':{'tensor':[1],"
                            "'indices':[[0]],'updates':[1]}}"),
                     ERROR_NONE);
    assert_int_equal(decode("tensor_scatter_add",
                            "{'id':'b','parameters':{'timeout':6},'inputs':{'tensor':[1],"
                            "'indices':[[0]],'updates':[1]}}"),
                     ERROR_NONE);
    assert_string_equal(f.request.id, "b");
    assert_int_equal(f.request.timeout_us, 6);
}

static void an_id_may_be_another_one_each_time(void **state)
{
    static const char *const texts[] = {
        "{'id':'%s','inputs':{'tensor':[1],'indices':[[0]],'updates':[1]}}",
        "{'inputs':{'tensor':[1],'indices':[[0]],'updates':[1]},'id':'%s'}",
    };
    static const char *const ids[] = {"a", "", "b c", "\xC3\xA4", "0123456789"};
    char json[256];
    (void)state;
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < 5; i++) {
            snprintf(json, sizeof json, texts[t], ids[i]);
            assert_int_equal(decode("tensor_scatter_add", json), ERROR_NONE);
            assert_string_equal(f.request.id, ids[i]);
            if (i > 0)
                assert_int_equal(f.memory.gets, 3);
        }
}

static void an_id_that_needs_more_than_a_copy_is_read_anew(void **state)
{
    static const char *const ids[] = {"a\\nb", "\\u0000", "\xC3", "\t", "a\\", "a'b"};
    char json[512], text[512];
    (void)state;
    for (size_t i = 0; i <= sizeof ids / sizeof ids[0]; i++) {
        static const char form[] =
            "{'id':'%s','inputs':{'tensor':[1],'indices':[[0]],'updates':[1]}}";
        char longest[REQUEST_ID_MAX + 2];
        memset(longest, 'x', sizeof longest - 1);
        longest[sizeof longest - 1] = '\0';
        assert_int_equal(decode("tensor_scatter_add", form), ERROR_NONE);
        snprintf(json, sizeof json, form, i < sizeof ids / sizeof ids[0] ? ids[i] : longest);
        char *quoted = quote(json);
        strcpy(text, quoted);
        free(quoted);
        expect_the_same(text, strlen(text));
    }
}

static void settings_that_come_later_are_obeyed(void **state)
{
    static const char json[] = "{'parameters':{'device':'cuda'},'inputs':{'tensor':[1],"
                               "'indices':[[0]],'updates':[1]}}";
    (void)state;
    f.rules.cuda_devices = 1;
    assert_int_equal(decode("tensor_scatter_add", json), ERROR_NONE);
    assert_true(f.request.ignore_bad);
    f.rules.bad_indices = BAD_INDICES_ERROR;
    assert_int_equal(decode("tensor_scatter_add", json), ERROR_NONE);
    assert_false(f.request.ignore_bad);
    f.rules.cuda_devices = 0;
    assert_int_equal(decode("tensor_scatter_add", json), ERROR_INVALID_PARAMETER);
}

static void the_headers_of_each_request_choose_its_answer(void **state)
{
    (void)state;
    assert_int_equal(decode("tensor_scatter_add", ADD("[1]", "0", "[1]")), ERROR_NONE);
    assert_int_equal(f.request.answer, ENCODING_JSON);
    f.head.accepted = ENCODING_BINARY;
    assert_int_equal(decode("tensor_scatter_add", ADD("[1]", "0", "[1]")), ERROR_NONE);
    assert_int_equal(f.request.answer, ENCODING_BINARY);
}

static void a_faulty_envelope_is_faulty_each_time(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(decode("tensor_scatter_add", "{'inputs':{'tensor':[1],'other':[1]}}"),
                         ERROR_UNKNOWN_INPUT);
}

static void elements_are_checked_each_time(void **state)
{
    (void)state;
    assert_int_equal(decode("tensor_scatter_add", ADD("[1]", "0", "[1]")), ERROR_NONE);
    assert_int_equal(decode("tensor_scatter_add", ADD("[1]", "0", "[x]")), ERROR_INVALID_JSON);
    assert_int_equal(decode("tensor_scatter_add", ADD("[1]", "0", "['x']")), ERROR_INVALID_FIELD);
}

static void a_binary_size_is_held_against_each_body(void **state)
{
    static const char json[] =
        "{\"inputs\":[{\"name\":\"tensor\",\"datatype\":\"INT8\",\"shape\":[2],\"parameters\":"
        "{\"binary_data_size\":2}},{\"name\":\"indices\",\"datatype\":\"INT32\",\"shape\":[0,1],"
        "\"data\":[]},{\"name\":\"updates\",\"datatype\":\"INT8\",\"shape\":[0],\"data\":[]}]}";
    char body[sizeof json + 2];
    (void)state;
    memcpy(body, json, sizeof json - 1);
    memcpy(body + sizeof json - 1, "\x01\x02\x03", 3);
    f.head.body = ENCODING_BINARY;
    f.head.header_length = sizeof json - 1;
    assert_int_equal(infer_answer(&f, "tensor_scatter_add", body, sizeof json + 1), ERROR_NONE);
    assert_int_equal(infer_decode(&f, "tensor_scatter_add", body, sizeof json),
                     ERROR_SIZE_MISMATCH);
    assert_int_equal(infer_decode(&f, "tensor_scatter_add", body, sizeof json + 2),
                     ERROR_SIZE_MISMATCH);
    f.head.body = ENCODING_JSON;
    f.head.header_length = -1;
    assert_int_equal(infer_decode(&f, "tensor_scatter_add", body, sizeof json - 1),
                     ERROR_INVALID_HEADER);
}

static void a_text_without_values_is_not_even_scanned(void **state)
{
    static const char json[] =
        "{\"inputs\":[{\"name\":\"params\",\"datatype\":\"INT8\",\"shape\":[4],\"parameters\":"
        "{\"binary_data_size\":4}},{\"name\":\"indices\",\"datatype\":\"INT32\",\"shape\":[0,1],"
        "\"parameters\":{\"binary_data_size\":0}}]}";
    char body[sizeof json + 3];
    (void)state;
    memcpy(body, json, sizeof json - 1);
    memcpy(body + sizeof json - 1, "\x01\x02\x03\x04", 4);
    f.head.body = ENCODING_BINARY;
    f.head.header_length = f.lead = sizeof json - 1;
    assert_int_equal(infer_decode(&f, "gather_nd", body, sizeof json + 3), ERROR_NONE);
    f.memory.gets = 0;
    assert_int_equal(infer_decode(&f, "gather_nd", body, sizeof json + 3), ERROR_NONE);
    assert_int_equal(f.memory.gets, 0);
    assert_int_equal(((const int8_t *)f.request.inputs[0].data)[1], 2);
    body[0] = '[';
    assert_int_equal(infer_decode(&f, "gather_nd", body, sizeof json + 3), ERROR_INVALID_JSON);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(other_elements_in_the_same_envelope),
        TEST(the_second_time_takes_memory_for_the_elements_alone),
        TEST(every_change_of_a_text_is_seen),
        TEST(what_is_no_list_is_read_anew),
        TEST(lists_may_not_be_deeper_for_being_recalled),
        TEST(the_oldest_of_many_texts_is_forgotten),
        TEST(a_text_too_long_to_be_kept_is_read_each_time),
        TEST(what_is_left_of_a_text_is_not_mistaken_for_a_text),
        TEST(a_text_without_values_is_not_even_scanned),
        TEST(another_operation_is_not_mistaken_for_it),
        TEST(ids_and_parameters_are_those_of_each_request),
        TEST(an_id_may_be_another_one_each_time),
        TEST(an_id_that_needs_more_than_a_copy_is_read_anew),
        TEST(settings_that_come_later_are_obeyed),
        TEST(the_headers_of_each_request_choose_its_answer),
        TEST(a_faulty_envelope_is_faulty_each_time),
        TEST(elements_are_checked_each_time),
        TEST(a_binary_size_is_held_against_each_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
