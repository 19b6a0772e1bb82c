/* Several threads read and print what one thread does, byte for byte, errors too. */
#include "proto/json/tensor.h"
#include "tests/support/proto/read_json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 100000, PLACES = 3, TEXT_ROOM = COUNT * 40 };

static const int64_t shape[] = {COUNT / 100, 100};
static const int threads[] = {2, 3, 8};

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void put_element(char **end, enum dtype dtype, int i, uint64_t random)
{
    if (dtype == DTYPE_BOOL)
        *end += sprintf(*end, "%s", random % 2 ? "true" : "false");
    else if (dtype == DTYPE_INT64)
        *end += sprintf(*end, "%lld", (long long)random);
    else if (i % 977 == 5)
        *end += sprintf(*end, "%s", random % 2 ? "-Infinity" : "\"NaN\"");
    else
        *end += sprintf(*end, "%.*g", (int)(random % 9) + 1, (double)(random >> 40) / 65536);
}

/* A list of COUNT elements, spaced so that all types have more than a megabyte of it. */
struct list {
    char *text;
    size_t at[COUNT + 1]; /* where each element begins; the last: the end */
};

static struct list *make_list(enum dtype dtype)
{
    struct list *list = malloc(sizeof(*list));
    assert_non_null(list);
    list->text = malloc(TEXT_ROOM);
    assert_non_null(list->text);
    char *end = list->text;
    uint64_t random = 20261130;
    *end++ = '[';
    for (int i = 0; i < COUNT; i++) {
        uint64_t value = draw(&random);
        list->at[i] = (size_t)(end - list->text);
        put_element(&end, dtype, i, value);
        end += sprintf(end, i == COUNT - 1 ? " ]" : value % 3 ? ",         " : "\t,     \n    ");
    }
    list->at[COUNT] = (size_t)(end - list->text);
    return list;
}

static void free_list(struct list *list)
{
    free(list->text);
    free(list);
}

/* The list's text with something else in place of an element and what follows it up to the next.
 * The caller frees it. */
static char *replace(const struct list *list, int place, const char *instead)
{
    char *text = malloc(list->at[COUNT] + 64), *end = text;
    assert_non_null(text);
    memcpy(text, list->text, list->at[place]);
    end += list->at[place];
    end += sprintf(end, place == COUNT - 1 ? "%s]" : "%s,", instead);
    strcpy(end, list->text + list->at[place + 1]);
    return text;
}

static void read_list(struct read_json *r, enum dtype dtype, const char *text, int thread_count)
{
    read_json_init(r, dtype, 2, shape);
    r->memory.work.threads = thread_count;
    read_json_data(r, text);
}

static void reading_gives_the_same_elements(void **state)
{
    static const enum dtype types[] = {DTYPE_FP32, DTYPE_FP64, DTYPE_FP16, DTYPE_INT64, DTYPE_BOOL};
    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct list *list = make_list(types[i]);
        struct read_json one, many;
        assert_true(strlen(list->text) > 1024 * 1024);
        read_list(&one, types[i], list->text, 1);
        assert_int_equal(one.code, ERROR_NONE);
        for (int k = 0; k < 3; k++) {
            read_list(&many, types[i], list->text, threads[k]);
            assert_int_equal(many.code, ERROR_NONE);
            assert_memory_equal(many.tensor.data, one.tensor.data, COUNT * dtype_bytes(types[i]));
            assert_int_equal(many.bare, one.bare);
            assert_int_equal(many.memory.bytes, one.memory.bytes);
            read_json_release(&many);
        }
        read_json_release(&one);
        free_list(list);
    }
}

static void expect_same_error(const struct error *a, const struct error *b)
{
    assert_int_equal(a->code, b->code);
    assert_string_equal(a->message, b->message);
    assert_int_equal(a->fault_count, b->fault_count);
    if (a->fault_count > 0)
        assert_memory_equal(&a->faults[0], &b->faults[0], sizeof(a->faults[0]));
}

static void reading_finds_the_same_error(void **state)
{
    static const char *const faults[] = {"01",   "1e39",    "null", "[1]",        "1,1",  "",
                                         "1,",   "1 1",     "{}",   "\"a,b\"",    "true", "-",
                                         "NaNx", "1e39,01", "x",    "\"\\u0041\""};
    static const int places[PLACES] = {0, COUNT / 2, COUNT - 1};
    struct list *list = make_list(DTYPE_FP32);
    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        for (int p = 0; p < PLACES; p++) {
            char *text = replace(list, places[p], faults[i]);
            struct read_json one, many;
            read_list(&one, DTYPE_FP32, text, 1);
            read_list(&many, DTYPE_FP32, text, 2);
            assert_int_not_equal(one.code, ERROR_NONE);
            expect_same_error(&many.error, &one.error);
            read_json_release(&one);
            read_json_release(&many);
            free(text);
        }
    free_list(list);
}

/* ------------------------------------------------------------------------------------- printing */

static float *make_values(void)
{
    float *values = malloc(COUNT * sizeof(*values));
    uint64_t random = 20261130;
    assert_non_null(values);
    for (int i = 0; i < COUNT; i++)
        values[i] = ldexpf((float)(draw(&random) >> 40), (int)(draw(&random) % 80) - 40);
    return values;
}

static char *print(const float *values, enum nonfinite nonfinite, int thread_count, size_t *size,
                   enum error_code *code, struct error *error)
{
    struct work work = {.threads = thread_count};
    struct tensor t = {.dtype = DTYPE_FP32, .rank = 2, .data = (void *)values};
    memcpy(t.shape, shape, sizeof(shape));
    char *text = malloc(json_tensor_text_max(&t));
    assert_non_null(text);
    *code = json_tensor_print(&t, nonfinite, text, size, &work, error);
    return text;
}

static void printing_gives_the_same_text(void **state)
{
    float *values = make_values();
    enum error_code code;
    struct error error;
    size_t one_size, many_size;
    (void)state;
    values[COUNT / 2] = NAN;
    values[COUNT - 1] = -INFINITY;
    char *one = print(values, NONFINITE_STRING, 1, &one_size, &code, &error);
    assert_int_equal(code, ERROR_NONE);
    for (int k = 0; k < 3; k++) {
        char *many = print(values, NONFINITE_STRING, threads[k], &many_size, &code, &error);
        assert_int_equal(code, ERROR_NONE);
        assert_int_equal(many_size, one_size);
        assert_memory_equal(many, one, one_size);
        free(many);
    }
    free(one);
    free(values);
}

static void printing_names_the_first_that_is_not_finite(void **state)
{
    static const int places[PLACES] = {0, COUNT / 2 + 3, COUNT - 1};
    (void)state;
    for (int p = 0; p < PLACES; p++) {
        float *values = make_values();
        struct error one, many;
        enum error_code code;
        size_t size;
        values[places[p]] = INFINITY;
        values[COUNT - 1] = NAN;
        free(print(values, NONFINITE_ERROR, 1, &size, &code, &one));
        assert_int_equal(code, ERROR_NONFINITE_IN_JSON);
        free(print(values, NONFINITE_ERROR, 8, &size, &code, &many));
        expect_same_error(&many, &one);
        assert_int_equal(many.faults[0].position[0], places[p] / 100);
        assert_int_equal(many.faults[0].position[1], places[p] % 100);
        free(values);
    }
}

/* ------------------------------------------------------------------------------------- stopping */

static void stopped_work_ends(void **state)
{
    static const atomic_bool stop = true;
    float *values = make_values();
    struct list *list = make_list(DTYPE_FP32);
    (void)state;
    for (int thread_count = 1; thread_count <= 2; thread_count++) {
        struct work work = {.threads = thread_count, .stop = &stop};
        struct tensor t = {.dtype = DTYPE_FP32, .rank = 1, .shape = {COUNT}, .data = values};
        struct error error;
        struct read_json r;
        size_t size;
        char *text = malloc(json_tensor_text_max(&t));
        assert_non_null(text);
        assert_int_equal(json_tensor_print(&t, NONFINITE_ERROR, text, &size, &work, &error),
                         ERROR_CANCELLED);
        free(text);
        read_list(&r, DTYPE_FP32, list->text, thread_count); /* the scan is not stopped */
        assert_int_equal(r.code, ERROR_NONE);
        work.memory = &r.memory.memory;
        assert_int_equal(json_tensor_read(&t, "tensor", &(struct json_value){.scan = &r.scan},
                                          &work, &r.bare, &error),
                         ERROR_CANCELLED);
        read_json_release(&r);
    }
    free_list(list);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_gives_the_same_elements),
        cmocka_unit_test(reading_finds_the_same_error),
        cmocka_unit_test(printing_gives_the_same_text),
        cmocka_unit_test(printing_names_the_first_that_is_not_finite),
        cmocka_unit_test(stopped_work_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
