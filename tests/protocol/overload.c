/* More work than the server takes: it says so at once, and everything it took is answered. */
#include "tests/support/http/crowd.h"
#include "tests/support/http/fixture.h"
#include "tests/support/http/gauge.h"
#include "tests/support/http/long_job.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { CLIENTS = 24, ROUNDS = 3, QUEUE_JOBS = 2 };

static int start(void **state)
{
    static const char *const settings[] = {"--workers=1", "--queue_jobs=2", "--memory=256M", NULL};

    return fixture_start_with(state, settings);
}

/* A small request with much to do: 20 MB of zeros are made and summed. */
static const char slow_json[] =
    "{\"inputs\":{\"indices\":[[4999999]],\"updates\":[7],\"shape\":[5000000]},"
    "\"parameters\":{\"binary_data_output\":true}}";

struct tally {
    int asked[CLIENTS];
    int done, refused;
};

static bool ask(void *context, int member, struct call *call)
{
    struct tally *t = context;

    *call = (struct call){
        .path = "/v2/models/scatter_nd/infer", .body = slow_json, .size = sizeof(slow_json) - 1};
    return t->asked[member]++ < ROUNDS;
}

static bool is_right(const struct answer *a)
{
    size_t size = 0;
    const char *found = answer_tensors(a, &size);
    float last;

    if (found == NULL || size != 5000000 * sizeof(float))
        return false;
    memcpy(&last, found + size - sizeof(last), sizeof(last));
    return last == 7;
}

static bool hear(void *context, int member, const struct answer *a)
{
    struct tally *t = context;

    (void)member;
    if (a == NULL)
        return false;
    if (a->status == 200) {
        t->done++;
        return is_right(a);
    }
    expect_error(a, 503, "QUEUE_FULL", "queue_jobs");
    expect_header(a, "Retry-After", "1");
    t->refused++;
    return true;
}

static void a_full_queue_answers_503_and_the_rest_is_served(void **state)
{
    struct fixture *f = *state;
    struct tally t = {0};
    const struct crowd crowd = {
        .port = f->server.port, .members = CLIENTS, .context = &t, .ask = ask, .hear = hear};

    assert_true(crowd_run(&crowd));
    assert_int_equal(t.done + t.refused, CLIENTS * ROUNDS);
    assert_true(t.done >= ROUNDS);
    assert_true(t.refused > 0);
    fixture_check_alive(f);
}

/* The only worker computes, and `jobs` wait. */
static void fill_queue(struct fixture *f, struct raw *raw, int jobs)
{
    for (int i = 0; i <= jobs; i++) {
        raw[i] = fixture_raw(f);
        assert_true(long_job_say(&raw[i]));
        gauge_settle(f, "tensord_running_jobs", 1);
        gauge_settle(f, "tensord_queue_jobs", i);
    }
}

static void empty_queue(struct fixture *f, struct raw *raw, int jobs)
{
    for (int i = 0; i <= jobs; i++)
        raw_close(&raw[i]);
    gauge_settle(f, "tensord_queue_jobs", 0);
    gauge_settle(f, "tensord_running_jobs", 0);
}

static void a_large_body_that_has_no_place_is_refused_before_it_is_sent(void **state)
{
    struct raw raw[QUEUE_JOBS + 1], r = fixture_raw(*state);
    struct answer a;

    fill_queue(*state, raw, QUEUE_JOBS);
    assert_true(raw_puts(&r, "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                             "Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n"));
    assert_true(raw_read(&r, &a, false));
    expect_error(&a, 503, "QUEUE_FULL", "queue_jobs");
    answer_release(&a);
    raw_close(&r);
    empty_queue(*state, raw, QUEUE_JOBS);
}

/* The thread that all connections share leaves a compressed body to a worker, as its size is not
 * known. */
static void a_compressed_body_is_a_workers(void **state)
{
    static const char json[] = "{\"inputs\":{\"indices\":[[0]],\"updates\":[7],\"shape\":[2]}}";
    struct raw busy, r = fixture_raw(*state);
    Bytef body[256];
    uLongf size = sizeof(body);
    struct answer a;

    assert_int_equal(compress(body, &size, (const Bytef *)json, sizeof(json) - 1), Z_OK);
    fill_queue(*state, &busy, 0);
    assert_true(raw_printf(&r,
                           "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                           "Content-Encoding: deflate\r\nContent-Length: %lu\r\n\r\n",
                           size));
    assert_true(raw_send(&r, body, size));
    gauge_settle(*state, "tensord_queue_jobs", 1);
    empty_queue(*state, &busy, 0);
    assert_true(raw_read(&r, &a, false));
    assert_int_equal(a.status, 200);
    expect_part(&a, "'data':[7.0,0.0]");
    answer_release(&a);
    raw_close(&r);
}

static void an_output_beyond_the_memory_is_refused(void **state)
{
    struct answer a = fixture_json(*state, "scatter_nd",
                                   "{'inputs':{'indices':[[0]],'updates':[7],'shape':[100000000]},"
                                   "'parameters':{'binary_data_output':true}}");

    expect_error(&a, 503, "RESOURCE_EXHAUSTED", "memory");
    assert_non_null(answer_header(&a, "Retry-After"));
    answer_release(&a);
    fixture_check_alive(*state);
}

static void a_body_beyond_the_whole_memory_is_413(void **state)
{
    struct raw r = fixture_raw(*state);
    struct answer a;

    assert_true(raw_puts(&r, "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                             "Inference-Header-Content-Length: 100\r\n"
                             "Content-Length: 536870912\r\n\r\n"));
    assert_true(raw_read(&r, &a, false));
    expect_error(&a, 413, "PAYLOAD_TOO_LARGE", "memory");
    answer_release(&a);
    raw_close(&r);
    fixture_check_alive(*state);
}

static void a_deadline_that_has_passed_is_504(void **state)
{
    struct answer a = fixture_json(*state, "scatter_nd",
                                   "{'inputs':{'indices':[[0]],'updates':[7],'shape':[5000000]},"
                                   "'parameters':{'binary_data_output':true,'timeout':1}}");

    expect_error(&a, 504, "DEADLINE_EXCEEDED", "");
    answer_release(&a);
    fixture_check_alive(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_queue_answers_503_and_the_rest_is_served),
        cmocka_unit_test(a_large_body_that_has_no_place_is_refused_before_it_is_sent),
        cmocka_unit_test(a_compressed_body_is_a_workers),
        cmocka_unit_test(an_output_beyond_the_memory_is_refused),
        cmocka_unit_test(a_body_beyond_the_whole_memory_is_413),
        cmocka_unit_test(a_deadline_that_has_passed_is_504),
    };

    return cmocka_run_group_tests_name("overload", tests, start, fixture_stop);
}
