/* What the headers decide is refused before the body is sent, and a body that comes all the same is
 * read away, so that the client reads the answer instead of a broken pipe. */
#include "tests/support/http/fixture.h"

#include <stdlib.h>
#include <string.h>

static int start(void **state)
{
    static const char *const settings[] = {"--max_body=16M", NULL};

    return fixture_start_with(state, settings);
}

struct row {
    const char *method, *path, *header;
    int status;
    const char *code, *part;
};

#define INFER "/v2/models/scatter_nd/infer"

static const struct row rows[] = {
    {"POST", "/v2/models/none/infer", "", 404, "MODEL_NOT_FOUND", "none"},
    {"POST", "/v2/models/scatter_nd/versions/3/infer", "", 404, "MODEL_NOT_FOUND", "3"},
    {"POST", "/upload", "", 404, "NOT_FOUND", "/upload"},
    {"PUT", INFER, "", 405, "METHOD_NOT_ALLOWED", "PUT"},
    {"POST", INFER, "Content-Encoding: br\r\n", 415, "UNSUPPORTED_ENCODING", "br"},
    {"POST", INFER, "Inference-Header-Content-Length: 0\r\n", 400, "INVALID_HEADER", "0"},
    {"POST", INFER, "Inference-Header-Content-Length: 12abc\r\n", 400, "INVALID_HEADER", "12abc"},
    {"POST", INFER, "Inference-Header-Content-Length: 8388609\r\n", 400, "INVALID_HEADER",
     "8388609"},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]), SIZE = 8 << 20 };

static void send_head(struct raw *r, const struct row *row, const char *expect, int size)
{
    assert_true(raw_printf(r, "%s %s HTTP/1.1\r\nHost: t\r\n%s%sContent-Length: %d\r\n\r\n",
                           row->method, row->path, row->header, expect, size));
}

static void who_waits_for_100_is_refused_at_once(void **state)
{
    for (int i = 0; i < ROWS; i++) {
        struct raw r = fixture_raw(*state);
        struct answer a;

        send_head(&r, &rows[i], "Expect: 100-continue\r\n", SIZE);
        assert_true(raw_read(&r, &a, false));
        expect_error(&a, rows[i].status, rows[i].code, rows[i].part);
        answer_release(&a);
        raw_close(&r);
    }
    fixture_check_alive(*state);
}

static void who_sends_all_the_same_reads_the_answer(void **state)
{
    char *zeros = calloc(1, SIZE);

    assert_non_null(zeros);
    for (int i = 0; i < ROWS; i++) {
        struct raw r = fixture_raw(*state);
        struct answer a;

        send_head(&r, &rows[i], "", SIZE);
        assert_true(raw_send(&r, zeros, SIZE));
        assert_true(raw_read(&r, &a, false));
        expect_error(&a, rows[i].status, rows[i].code, rows[i].part);
        answer_release(&a);
        assert_true(raw_ended(&r));
        raw_close(&r);
    }
    free(zeros);
    fixture_check_alive(*state);
}

static void a_small_refused_body_keeps_the_connection(void **state)
{
    struct raw r = fixture_raw(*state);

    for (int i = 0; i < ROWS; i++) {
        struct answer a;

        send_head(&r, &rows[i], "", 5);
        assert_true(raw_puts(&r, "hello"));
        assert_true(raw_read(&r, &a, false));
        expect_error(&a, rows[i].status, rows[i].code, "");
        expect_header(&a, "Connection", NULL);
        answer_release(&a);
    }
    raw_close(&r);
}

static void a_body_beyond_the_limit(void **state)
{
    enum { LARGE = 24 << 20 };
    const struct row row = {"POST", INFER, "", 413, "PAYLOAD_TOO_LARGE", "25165824"};
    char *zeros = calloc(1, LARGE);

    assert_non_null(zeros);
    for (int waits = 0; waits <= 1; waits++) {
        struct raw r = fixture_raw(*state);
        struct answer a;

        send_head(&r, &row, waits ? "Expect: 100-continue\r\n" : "", LARGE);
        if (!waits)
            assert_true(raw_send(&r, zeros, LARGE));
        assert_true(raw_read(&r, &a, false));
        expect_error(&a, row.status, row.code, row.part);
        expect_part(&a, "max_body");
        answer_release(&a);
        raw_close(&r);
    }
    free(zeros);
    fixture_check_alive(*state);
}

static void an_unknown_expectation_is_417(void **state)
{
    const struct row row = {"POST", INFER, "", 417, "EXPECTATION_FAILED", "tea"};
    struct raw r = fixture_raw(*state);
    struct answer a;

    send_head(&r, &row, "Expect: tea\r\n", 2);
    assert_true(raw_puts(&r, "{}"));
    assert_true(raw_read(&r, &a, false));
    expect_error(&a, row.status, row.code, row.part);
    answer_release(&a);
    raw_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_for_100_is_refused_at_once),
        cmocka_unit_test(who_sends_all_the_same_reads_the_answer),
        cmocka_unit_test(a_small_refused_body_keeps_the_connection),
        cmocka_unit_test(a_body_beyond_the_limit),
        cmocka_unit_test(an_unknown_expectation_is_417),
    };

    return cmocka_run_group_tests_name("refusals", tests, start, fixture_stop);
}
