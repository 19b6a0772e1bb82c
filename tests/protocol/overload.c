/* More work than the server takes: it says so at once, and everything it took is answered. */
#include "tests/support/http/crowd.h"
#include "tests/support/http/fixture.h"

#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 24, ROUNDS = 3 };

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
        cmocka_unit_test(an_output_beyond_the_memory_is_refused),
        cmocka_unit_test(a_body_beyond_the_whole_memory_is_413),
        cmocka_unit_test(a_deadline_that_has_passed_is_504),
    };

    return cmocka_run_group_tests_name("overload", tests, start, fixture_stop);
}
