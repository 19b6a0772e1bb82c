/* Deadlines: a job past its own is answered 504, whether it waits or runs. */
#include "tests/support/http/gauge.h"
#include "tests/support/http/long_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int start(void **state)
{
    static const char *const settings[] = {"--workers=1", "--memory=2G", NULL};
    return fixture_start_with(state, settings);
}

/* 200 MB of zeros to write: longer than a microsecond on any machine. */
static const char impatient_json[] = "{'inputs':{'indices':[[0]],'updates':[7],'shape':[50000000]},"
                                     "'parameters':{'timeout':1,'binary_data_output':true}}";

static void a_job_is_not_run_past_its_timeout(void **state)
{
    struct answer a = fixture_json(*state, "scatter_nd", impatient_json);
    expect_error(&a, 504, "DEADLINE_EXCEEDED", "timeout of 0.001 ms");
    answer_release(&a);
    fixture_check_alive(*state);
}

/* A small job never waits, but to read a thousand numbers takes longer than a microsecond. */
static void a_small_job_is_not_run_past_its_timeout(void **state)
{
    enum { ZEROS = 2 * 1000 };
    char zeros[ZEROS + 1] = "", json[ZEROS + 200];
    for (int i = 0; i < ZEROS; i += 2)
        memcpy(zeros + i, "0,", 3);
    snprintf(json, sizeof json,
             "{'inputs':{'params':[%s1],'indices':[[7]]},'parameters':{'timeout':1}}", zeros);
    struct answer a = fixture_json(*state, "gather_nd", json);
    expect_error(&a, 504, "DEADLINE_EXCEEDED", "timeout of 0.001 ms");
    answer_release(&a);
}

/* Asks for a job that is too large to run inline, with a timeout that is not over before it is
 * queued, on a busy machine either. */
static void say_late(struct raw *r)
{
    static const char json[] =
        "{\"inputs\":{\"indices\":[[0]],\"updates\":[7],\"shape\":[1000000]},"
        "\"parameters\":{\"binary_data_output\":true,\"timeout\":100000}}";
    assert_true(raw_printf(r,
                           "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                           "Content-Length: %zu\r\n\r\n%s",
                           sizeof json - 1, json));
}

static void a_job_that_waits_is_answered_at_its_timeout(void **state)
{
    struct fixture *f = *state;
    struct raw busy = fixture_raw(f), late = fixture_raw(f);
    struct answer a;
    assert_true(long_job_say(&busy)); /* keeps the only worker busy */
    gauge_settle(f, "tensord_running_jobs", 1);
    say_late(&late);
    assert_true(raw_read(&late, &a, false));
    expect_error(&a, 504, "DEADLINE_EXCEEDED", "timeout of 100 ms");
    const char *queue = strstr(answer_header(&a, "Server-Timing"), "queue;dur=");
    assert_non_null(queue);
    assert_true(atof(queue + strlen("queue;dur=")) > 50); /* most of it passed in the queue */
    answer_release(&a);
    raw_close(&late);
    raw_close(&busy); /* the job of a client that left is stopped */
    gauge_settle(f, "tensord_queue_jobs", 0);
    gauge_settle(f, "tensord_running_jobs", 0);
    gauge_settle(f, "tensord_open_requests", 1);
}

static void the_servers_limit_counts_too(void **state)
{
    static const char *const settings[] = {"--request_timeout=1ms", "--memory=2G", NULL};
    void *own;
    (void)state;
    assert_int_equal(fixture_start_with(&own, settings), 0);
    struct raw r = fixture_raw(own);
    struct answer a;
    assert_true(long_job_say(&r));
    assert_true(raw_read(&r, &a, false));
    expect_error(&a, 504, "DEADLINE_EXCEEDED", "timeout of 1 ms");
    answer_release(&a);
    raw_close(&r);
    assert_int_equal(fixture_stop(&own), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_not_run_past_its_timeout),
        cmocka_unit_test(a_small_job_is_not_run_past_its_timeout),
        cmocka_unit_test(a_job_that_waits_is_answered_at_its_timeout),
        cmocka_unit_test(the_servers_limit_counts_too),
    };
    return cmocka_run_group_tests_name("deadlines", tests, start, fixture_stop);
}
