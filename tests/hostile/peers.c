/* Clients that are slow, that leave, and that never stop: they get what they asked for or nothing,
 * and nobody else notices. */
#include "tests/support/http/gauge.h"
#include "tests/support/http/long_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define INFER "POST /v2/models/tensor_scatter_add/infer HTTP/1.1\r\nHost: t\r\n"

static const char body[] = "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[1]],\"updates\":[5]}}";
static const char slow_body[] =
    "{\"inputs\":{\"indices\":[[0]],\"updates\":[7],\"shape\":[2000000]},"
    "\"parameters\":{\"binary_data_output\":true}}";

static void expect_sum(struct raw *r)
{
    struct answer a;

    assert_true(raw_read(r, &a, false));
    assert_int_equal(a.status, 200);
    expect_part(&a, "'data':[1.0,7.0]");
    answer_release(&a);
}

static void a_whole_request_byte_by_byte(void **state)
{
    struct raw r = fixture_raw(*state);
    char *text;
    int size = asprintf(&text, INFER "Content-Length: %zu\r\n\r\n%s", strlen(body), body);

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < size; i++)
            assert_true(raw_send(&r, text + i, 1));
        expect_sum(&r);
    }
    free(text);
    raw_close(&r);
}

/* Blanks are legal JSON: what matters is that 200,000 chunks cost no more than their bytes. */
static void chunks_of_one_byte_by_the_hundred_thousand(void **state)
{
    enum { BLANKS = 200000, CHUNK = 6 };
    struct raw r = fixture_raw(*state);
    char *chunks = malloc(BLANKS * CHUNK + 1);

    assert_non_null(chunks);
    for (int i = 0; i < BLANKS; i++)
        memcpy(chunks + i * CHUNK, "1\r\n \r\n", CHUNK);
    assert_true(raw_puts(&r, INFER "Transfer-Encoding: chunked\r\n\r\n"));
    assert_true(raw_send(&r, chunks, BLANKS * CHUNK));
    assert_true(raw_printf(&r, "%zx\r\n%s\r\n0\r\n\r\n", strlen(body), body));
    expect_sum(&r);
    free(chunks);
    raw_close(&r);
    fixture_check_alive(*state);
}

static void chunk_extensions_and_trailers_are_ignored(void **state)
{
    struct raw r = fixture_raw(*state);

    assert_true(raw_printf(&r,
                           INFER "Transfer-Encoding: chunked\r\n\r\n%zx;name=value\r\n%s\r\n"
                                 "0\r\nContent-Length: 5\r\nX-Trailer: t\r\n\r\n",
                           strlen(body), body));
    expect_sum(&r);
    raw_close(&r);
}

static void half_close_before_the_body_is_whole(void **state)
{
    struct raw r = fixture_raw(*state);

    assert_true(raw_puts(&r, INFER "Content-Length: 100\r\n\r\n{\"inputs\""));
    raw_finish(&r);
    assert_true(raw_ended(&r));
    raw_close(&r);
    fixture_check_alive(*state);
}

/* A client that shuts its sending side has gone as far as the server can tell: its job is
 * cancelled. */
static void half_close_while_the_job_runs(void **state)
{
    static const char cancelled[] =
        "tensord_requests_total{op=\"sparse_segment_sum\",code=\"CANCELLED\"}";
    double before = gauge(*state, cancelled);
    struct raw r = fixture_raw(*state);

    assert_true(long_job_say(&r));
    gauge_settle(*state, "tensord_running_jobs", 1);
    raw_finish(&r);
    assert_true(raw_ended(&r));
    raw_close(&r);
    gauge_settle(*state, cancelled, before + 1);
    fixture_check_alive(*state);
}

static void send_part(struct raw *r, const char *text, size_t size, bool reset)
{
    raw_send(r, text, size);
    if (reset)
        raw_reset(r);
    else
        raw_close(r);
}

/* From before the first byte to after the last: nothing may be left behind. */
static void a_client_may_leave_at_any_byte(void **state)
{
    char *text;
    int size = asprintf(&text, INFER "Content-Length: %zu\r\n\r\n%s", strlen(body), body);

    for (int round = 0; round < 2; round++)
        for (int i = 0; i <= size; i++) {
            struct raw r = fixture_raw(*state);

            send_part(&r, text, (size_t)i, round == 1);
        }
    free(text);
    fixture_check_alive(*state);
}

static void a_client_may_leave_a_queued_job(void **state)
{
    for (int i = 0; i < 100; i++) {
        struct raw r = fixture_raw(*state);
        char *text;
        int size = asprintf(&text,
                            "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                            "Content-Length: %zu\r\n\r\n%s",
                            strlen(slow_body), slow_body);

        send_part(&r, text, (size_t)size, i % 2 == 0);
        free(text);
    }
    fixture_check_alive(*state);
}

/* The answer has 8 MB, more than the sockets hold: it is being written when its reader leaves. */
static void a_client_may_leave_in_the_middle_of_its_answer(void **state)
{
    char *text;
    int size = asprintf(&text,
                        "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                        "Content-Length: %zu\r\n\r\n%s",
                        strlen(slow_body), slow_body);

    for (int i = 0; i < 20; i++) {
        struct raw r = fixture_raw(*state);
        char start[16];

        assert_true(raw_send(&r, text, (size_t)size));
        assert_true(recv(r.fd, start, sizeof(start), MSG_WAITALL) == sizeof(start));
        assert_memory_equal(start, "HTTP/1.1 200", 12);
        send_part(&r, "", 0, i % 2 == 0);
    }
    free(text);
    fixture_check_alive(*state);
}

static void a_megabyte_uploaded_and_dropped_again_and_again(void **state)
{
    enum { SIZE = 1 << 20, TIMES = 50 };
    char *zeros = calloc(1, SIZE);

    assert_non_null(zeros);
    for (int i = 0; i < TIMES; i++) {
        struct raw r = fixture_raw(*state);

        assert_true(raw_printf(&r, INFER "Content-Length: %d\r\n\r\n", SIZE + 1));
        send_part(&r, zeros, SIZE, i % 2 == 0);
    }
    free(zeros);
    fixture_check_alive(*state);
}

static void a_thousand_idle_connections(void **state)
{
    enum { COUNT = 1000 };
    struct raw *all = calloc(COUNT, sizeof(*all));
    int open = 0;

    assert_non_null(all);
    while (open < COUNT && raw_open(&all[open], ((struct fixture *)*state)->server.port))
        open++;
    assert_int_equal(open, COUNT);
    for (int i = 0; i < COUNT; i += 2)
        assert_true(raw_puts(&all[i], "POST /v2/mod"));
    fixture_check_alive(*state);
    for (int i = 0; i < COUNT; i++)
        raw_close(&all[i]);
    free(all);
    fixture_check_alive(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_request_byte_by_byte),
        cmocka_unit_test(chunks_of_one_byte_by_the_hundred_thousand),
        cmocka_unit_test(chunk_extensions_and_trailers_are_ignored),
        cmocka_unit_test(half_close_before_the_body_is_whole),
        cmocka_unit_test(half_close_while_the_job_runs),
        cmocka_unit_test(a_client_may_leave_at_any_byte),
        cmocka_unit_test(a_client_may_leave_a_queued_job),
        cmocka_unit_test(a_client_may_leave_in_the_middle_of_its_answer),
        cmocka_unit_test(a_megabyte_uploaded_and_dropped_again_and_again),
        cmocka_unit_test(a_thousand_idle_connections),
    };

    return cmocka_run_group_tests_name("peers", tests, fixture_start, fixture_stop);
}
