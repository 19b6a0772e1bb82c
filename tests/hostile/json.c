/* JSON that is made to cost: deep, long, repetitive. Each is refused, or read in memory and time
 * for its size. */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int start(void **state)
{
    static const char *const settings[] = {"--max_json=8M", "--max_body=16M", NULL};

    return fixture_start_with(state, settings);
}

/* `start`, `piece` so many times (a # in it becomes the number), `end`; ' stands for ". */
static char *repeat(const char *begin, const char *piece, int times, const char *end)
{
    char *text = NULL, *quoted;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    assert_non_null(stream);
    fputs(begin, stream);
    for (int i = 0; i < times; i++)
        for (const char *c = piece; *c != '\0'; c++)
            if (*c == '#')
                fprintf(stream, "%d", i);
            else
                fputc(*c, stream);
    fputs(end, stream);
    assert_int_equal(fclose(stream), 0);
    quoted = quote(text);
    free(text);
    return quoted;
}

static struct answer post_repeated(void **state, const char *begin, const char *piece, int times,
                                   const char *end)
{
    char *text = repeat(begin, piece, times, end);
    struct answer a = fixture_call(*state, &(struct call){.path = "/v2/models/scatter_nd/infer",
                                                          .headers = {"Expect:", NULL},
                                                          .body = text,
                                                          .size = strlen(text)});

    free(text);
    return a;
}

struct row {
    const char *begin, *piece, *end;
    int times;
    int status;
    const char *code;
};

static void what_is_refused(void **state)
{
    static const struct row rows[] = {
        {"", "[", "", 1000000, 400, "INVALID_JSON"},
        {"{'inputs':", "[", "", 1000000, 400, "INVALID_JSON"},
        {"{'inputs':{'updates':", "[", "", 1000000, 400, "INVALID_JSON"},
        {"", "{'a':", "", 500000, 400, "INVALID_JSON"},
        {"{'x':", "[", "]}", 40, 400, "INVALID_JSON"},
        {"", "\\", "", 1000000, 400, "INVALID_JSON"},
        {"'", "\\u0041", "", 100000, 400, "INVALID_JSON"},
        {"{'id':'", "a", "'}", 300000, 400, "INVALID_JSON"},
        {"{", "'k#':1,", "'k0':1}", 20000, 400, "INVALID_JSON"},
        {"{", "'k#':1,", "'inputs':[]}", 200000, 400, "INVALID_JSON"},
        {"{'inputs':[", "{'name':'n#'},", "{}]}", 10000, 400, "UNKNOWN_INPUT"},
        {"{'inputs':[", "{},", "{}]}", 50000, 400, "INVALID_FIELD"},
        {"{'inputs':{", "'k#':[1],", "'k':[1]}}", 5000, 400, "UNKNOWN_INPUT"},
        {"{'inputs':[{'name':'updates','datatype':'FP32','data':[1],'shape':[", "1,", "1]}]}",
         50000, 400, "SHAPE_MISMATCH"},
        {"{'inputs':{'indices':[[0]],'updates':[", "9", "],'shape':[1]}}", 1000000, 400,
         "VALUE_OUT_OF_RANGE"},
        {"{'inputs':{'indices':[[0]],'updates':[1e", "9", "],'shape':[1]}}", 1000000, 400,
         "VALUE_OUT_OF_RANGE"},
        {"{'inputs':{'indices':[[", "9", "]],'updates':[1],'shape':[1]}}", 1000000, 400,
         "VALUE_OUT_OF_RANGE"},
        {"{'inputs':{'indices':[[0]],'updates':[1],'shape':[1]},'outputs':[", "{'name':'output'},",
         "{'name':'output'}]}", 3000, 400, "INVALID_FIELD"},
        {"\xef\xbb\xbf", "", "{}", 1, 400, "INVALID_JSON"},
        {"{'inputs':[]}", "\v", "", 1, 400, "INVALID_JSON"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer a =
            post_repeated(state, rows[i].begin, rows[i].piece, rows[i].times, rows[i].end);

        if (a.status != rows[i].status || strstr(a.body, rows[i].code) == NULL)
            print_error("row %zu: %s%s...\n", i, rows[i].begin, rows[i].piece);
        expect_error(&a, rows[i].status, rows[i].code, "");
        answer_release(&a);
    }
    fixture_check_alive(*state);
}

static void what_is_only_long(void **state)
{
    static const struct {
        const char *begin, *piece, *end;
        int times;
        const char *data;
    } rows[] = {
        {"{'inputs':{'indices':[[0]],'updates':[1", "0", "e-1000000],'shape':[1]}}", 1000000,
         "[1.0]"},
        {"{'inputs':{'indices':[[0]],'updates':[0.", "0", "1],'shape':[1]}}", 1000000, "[0.0]"},
        {"{'inputs':{'indices':[[0]],'updates':[1.", "9", "],'shape':[1]}}", 1000000, "[2.0]"},
        {"{'inputs':{'indices':[[0]],'updates':[3],'shape':[1]}", " \t\r\n", "}", 1000000, "[3.0]"},
        {"{'inputs':{'indices':[[0]],'updates':[3", " ", "],'shape':[1]}}", 4000000, "[3.0]"},
        {"{'x':[", "[[]],", "0],'inputs':{'indices':[[0]],'updates':[4],'shape':[1]}}", 40000,
         "[4.0]"},
        {"{'inputs':{'indices':[", "[0],", "[0]],'updates':[1],'shape':[1]}}", 0, "[1.0]"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer a =
            post_repeated(state, rows[i].begin, rows[i].piece, rows[i].times, rows[i].end);

        if (a.status != 200)
            print_error("row %zu: %.200s\n", i, a.body);
        assert_int_equal(a.status, 200);
        expect_part(&a, rows[i].data);
        answer_release(&a);
    }
}

/* A JSON text has a limit of its own, below that of a body with tensors. */
static void text_beyond_max_json_is_413(void **state)
{
    struct answer a = post_repeated(state, "{}", " ", 9 << 20, "");

    expect_error(&a, 413, "PAYLOAD_TOO_LARGE", "max_json");
    answer_release(&a);
    a = post_repeated(state, "{'inputs':{'indices':[[0]],'updates':[3],'shape':[1]}}", " ",
                      (8 << 20) - 54, "");
    assert_int_equal(a.status, 200);
    answer_release(&a);
}

/* A gzip body whose client forgot to say so, and other bytes that are no text. */
static void bytes_that_are_no_text(void **state)
{
    static const char gzip[] = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\xae\x05\x00";
    struct answer a = fixture_call(*state, &(struct call){.path = "/v2/models/scatter_nd/infer",
                                                          .body = gzip,
                                                          .size = sizeof(gzip) - 1});

    expect_error(&a, 400, "INVALID_JSON", "");
    answer_release(&a);
    for (int c = 0; c < 256; c++) {
        char text[] = "{\"id\":\"_\"}";

        text[7] = (char)c;
        a = fixture_call(*state, &(struct call){.path = "/v2/models/scatter_nd/infer",
                                                .body = text,
                                                .size = sizeof(text) - 1});
        assert_int_equal(a.status, 400);
        answer_release(&a);
    }
    fixture_check_alive(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(what_is_only_long),
        cmocka_unit_test(text_beyond_max_json_is_413),
        cmocka_unit_test(bytes_that_are_no_text),
    };

    return cmocka_run_group_tests_name("json", tests, start, fixture_stop);
}
