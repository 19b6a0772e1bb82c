/* How requests and answers share a connection: keep-alive, pipelining, chunks, 100-continue. */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH "/v2/models/tensor_scatter_add/infer"

static char *request_text(int value)
{
    char *text;

    assert_true(asprintf(&text,
                         "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[1]],\"updates\":[%d]}}",
                         value) > 0);
    return text;
}

static void send_request(struct raw *r, int value, const char *headers)
{
    char *text = request_text(value);

    assert_true(raw_printf(r,
                           "POST " PATH " HTTP/1.1\r\nHost: t\r\n%sContent-Length: %zu\r\n\r\n%s",
                           headers, strlen(text), text));
    free(text);
}

static void expect_answer(struct raw *r, int value)
{
    struct answer a;
    char wanted[64];

    assert_true(raw_read(r, &a, false));
    assert_int_equal(a.status, 200);
    snprintf(wanted, sizeof(wanted), "'data':[1.0,%d.0]", value + 2);
    expect_part(&a, wanted);
    answer_release(&a);
}

static void one_connection_serves_many_requests(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 100; i++) {
        fixture_check_alive(f);
        assert_int_equal(client_connects(&f->client), i == 0 ? 1 : 0);
    }
}

static void an_error_keeps_the_connection(void **state)
{
    struct fixture *f = *state;
    struct answer a;

    fixture_check_alive(f);
    a = fixture_json(f, "tensor_scatter_add",
                     "{'inputs':{'tensor':[1],'indices':[[5]],'updates':[1]}}");
    assert_int_equal(client_connects(&f->client), 0);
    expect_error(&a, 400, "INDEX_OUT_OF_BOUNDS", "");
    answer_release(&a);
    a = fixture_json(f, "no_such_op", "{}");
    assert_int_equal(client_connects(&f->client), 0);
    expect_error(&a, 404, "MODEL_NOT_FOUND", "");
    answer_release(&a);
    a = fixture_call(f, &(struct call){.path = "/no/such/path"});
    assert_int_equal(client_connects(&f->client), 0);
    expect_error(&a, 404, "NOT_FOUND", "");
    answer_release(&a);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    enum { REQUESTS = 200 };
    struct raw r = fixture_raw(*state);

    for (int i = 0; i < REQUESTS; i++)
        send_request(&r, i, "");
    for (int i = 0; i < REQUESTS; i++)
        expect_answer(&r, i);
    raw_close(&r);
}

/* A job that is too large to run inline suspends its connection, and the next request waits
 * unread. */
static void a_request_behind_a_queued_job_waits_its_turn(void **state)
{
    struct raw r = fixture_raw(*state);
    const char *large = "{\"inputs\":{\"indices\":[[2]],\"updates\":[7],\"shape\":[1000000]},"
                        "\"parameters\":{\"binary_data_output\":true}}";
    struct answer a;
    size_t size;

    assert_true(raw_printf(&r,
                           "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                           "Content-Length: %zu\r\n\r\n%s",
                           strlen(large), large));
    send_request(&r, 5, "");
    assert_true(raw_read(&r, &a, false));
    assert_int_equal(a.status, 200);
    assert_non_null(answer_tensors(&a, &size));
    assert_int_equal(size, 4000000);
    answer_release(&a);
    expect_answer(&r, 5);
    raw_close(&r);
}

static void connection_close_is_obeyed(void **state)
{
    struct raw r = fixture_raw(*state);

    send_request(&r, 3, "Connection: close\r\n");
    expect_answer(&r, 3);
    assert_true(raw_ended(&r));
    raw_close(&r);
}

static void http_1_0_is_answered_and_closed(void **state)
{
    struct raw r = fixture_raw(*state);
    char *text = request_text(4);

    assert_true(raw_printf(&r, "POST " PATH " HTTP/1.0\r\nContent-Length: %zu\r\n\r\n%s",
                           strlen(text), text));
    free(text);
    expect_answer(&r, 4);
    assert_true(raw_ended(&r));
    raw_close(&r);
}

static void a_chunked_upload_is_one_body(void **state)
{
    struct raw r = fixture_raw(*state);
    char *text = request_text(6);
    size_t size = strlen(text);

    assert_true(
        raw_puts(&r, "POST " PATH " HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (size_t at = 0; at < size; at += 7) {
        size_t piece = size - at < 7 ? size - at : 7;

        assert_true(raw_printf(&r, "%zx\r\n%.*s\r\n", piece, (int)piece, text + at));
    }
    assert_true(raw_puts(&r, "0\r\n\r\n"));
    expect_answer(&r, 6);
    send_request(&r, 7, "");
    expect_answer(&r, 7);
    free(text);
    raw_close(&r);
}

static void a_large_chunked_upload_grows_its_block(void **state)
{
    enum { COUNT = 100000 };
    struct fixture *f = *state;
    float *tensor = calloc(COUNT, sizeof(float)), one = 1;
    int32_t index = COUNT - 1;
    const struct part parts[] = {
        {"tensor", "FP32", "[100000]", tensor, COUNT * sizeof(float)},
        {"indices", "INT32", "[1,1]", &index, sizeof(index)},
        {"updates", "FP32", "[1]", &one, sizeof(one)},
    };
    char length[64];
    struct body body;
    struct answer a;
    const char *found;
    size_t size;

    assert_non_null(tensor);
    assert_true(body_binary(&body, parts, 3, ",'parameters':{'binary_data_output':true}"));
    snprintf(length, sizeof(length), "Inference-Header-Content-Length: %zu", body.header_length);
    a = fixture_call(f, &(struct call){.path = PATH,
                                       .headers = {length, NULL},
                                       .body = body.data,
                                       .size = body.size,
                                       .chunked = true});
    tensor[COUNT - 1] = 1;
    found = answer_tensors(&a, &size);
    assert_non_null(found);
    assert_int_equal(size, COUNT * sizeof(float));
    assert_memory_equal(found, tensor, size);
    answer_release(&a);
    body_release(&body);
    free(tensor);
}

static void expect_100_continue_is_answered_before_the_body(void **state)
{
    struct raw r = fixture_raw(*state);
    char *text = request_text(8);
    struct answer a;

    assert_true(raw_printf(&r,
                           "POST " PATH " HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\n"
                           "Content-Length: %zu\r\n\r\n",
                           strlen(text)));
    assert_true(raw_read(&r, &a, false));
    assert_int_equal(a.status, 100);
    answer_release(&a);
    assert_true(raw_puts(&r, text));
    expect_answer(&r, 8);
    free(text);
    raw_close(&r);
}

static void a_body_may_arrive_byte_by_byte(void **state)
{
    struct raw r = fixture_raw(*state);
    char *text = request_text(10);

    assert_true(raw_printf(&r, "POST " PATH " HTTP/1.1\r\nHost: t\r\nContent-Length: %zu\r\n\r\n",
                           strlen(text)));
    for (const char *c = text; *c != '\0'; c++)
        assert_true(raw_send(&r, c, 1));
    expect_answer(&r, 10);
    free(text);
    raw_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_connection_serves_many_requests),
        cmocka_unit_test(an_error_keeps_the_connection),
        cmocka_unit_test(pipelined_requests_are_answered_in_order),
        cmocka_unit_test(a_request_behind_a_queued_job_waits_its_turn),
        cmocka_unit_test(connection_close_is_obeyed),
        cmocka_unit_test(http_1_0_is_answered_and_closed),
        cmocka_unit_test(a_chunked_upload_is_one_body),
        cmocka_unit_test(a_large_chunked_upload_grows_its_block),
        cmocka_unit_test(expect_100_continue_is_answered_before_the_body),
        cmocka_unit_test(a_body_may_arrive_byte_by_byte),
    };

    return cmocka_run_group_tests_name("connections", tests, fixture_start, fixture_stop);
}
