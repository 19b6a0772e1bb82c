/* Overload for half a minute (OVERLOAD_SECONDS): requests come at fixed times, five times as many
 * as can be computed. What the server takes is answered right, the rest is told to come again,
 * memory keeps its bound, and afterwards all is as before. Nothing is asserted about times: a load
 * that falls behind its own goes on until it has asked as often. */
#include "tests/support/http/crowd.h"
#include "tests/support/http/gauge.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* So little that the refused have to give back all that they take. */
#define MEMORY "16M"
enum { MEMORY_BYTES = 16 << 20, CLIENTS = 64, STEADY_CLIENTS = 4, TIMES = 5, GAUGED_EVERY = 100 };
enum { COLUMNS = 6144, ROWS = 3072 };

struct tally {
    struct fixture *fixture;
    struct body bodies[CLIENTS];
    char lengths[CLIENTS][64];
    long asked, done, refused;
    long most;  /* requests at most */
    double end; /* when the load ends */
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Little to send and much to do: the sum of a row of the member's number, over and over. */
static bool make_body(struct tally *t, int member)
{
    static float data[COLUMNS];
    static const int32_t zeros[ROWS];
    const struct part parts[] = {{"data", "FP32", "[1,6144]", data, sizeof data},
                                 {"indices", "INT32", "[3072]", zeros, sizeof zeros},
                                 {"segment_ids", "INT32", "[3072]", zeros, sizeof zeros}};
    for (int i = 0; i < COLUMNS; i++)
        data[i] = (float)(member + 1);
    if (!body_binary(&t->bodies[member], parts, 3, ",'parameters':{'binary_data_output':true}"))
        return false;
    snprintf(t->lengths[member], sizeof t->lengths[member], "Inference-Header-Content-Length: %zu",
             t->bodies[member].header_length);
    return true;
}

static int start(void **state)
{
    static const char *const settings[] = {"--workers=1", "--cores=1", "--queue_jobs=8",
                                           "--memory=" MEMORY, NULL};
    static struct tally tally;
    bool made = true;
    for (int i = 0; i < CLIENTS; i++)
        made = made && make_body(&tally, i);
    if (!made || fixture_start_with(state, settings) != 0)
        return -1;
    tally.fixture = *state;
    *state = &tally;
    return 0;
}

static int stop(void **state)
{
    struct tally *t = *state;
    void *fixture = t->fixture;
    for (int i = 0; i < CLIENTS; i++)
        body_release(&t->bodies[i]);
    return fixture_stop(&fixture);
}

static bool ask(void *context, int member, struct call *call)
{
    struct tally *t = context;
    *call = (struct call){.path = "/v2/models/sparse_segment_sum/infer",
                          .headers = {t->lengths[member]},
                          .body = t->bodies[member].data,
                          .size = t->bodies[member].size};
    return t->asked++ < t->most && seconds() < t->end;
}

static bool is_right(const struct answer *a, int member)
{
    size_t size = 0;
    const char *found = answer_tensors(a, &size);
    if (!found || size != COLUMNS * sizeof(float))
        return false;
    for (size_t at = 0; at < size; at += sizeof(float)) {
        float sum;
        memcpy(&sum, found + at, sizeof sum);
        if (sum != (float)(ROWS * (member + 1)))
            return false;
    }
    return true;
}

static bool hear(void *context, int member, const struct answer *a)
{
    struct tally *t = context;
    if (!a)
        return false;
    if ((t->done + t->refused) % GAUGED_EVERY == 0)
        assert_true(gauge(t->fixture, "tensord_memory_used_bytes") <= MEMORY_BYTES);
    if (a->status == 200) {
        t->done++;
        return is_right(a, member);
    }
    expect_error(a, 503, "QUEUE_FULL", "queue_jobs");
    expect_header(a, "Retry-After", "1");
    t->refused++;
    return true;
}

/* Returns the seconds that it took. */
static double load(struct tally *t, int clients, double rate, long most, double end)
{
    const struct crowd crowd = {.port = t->fixture->server.port,
                                .members = clients,
                                .rate = rate,
                                .context = t,
                                .ask = ask,
                                .hear = hear};
    double begin = seconds();
    t->asked = t->done = t->refused = 0;
    t->most = most;
    t->end = end;
    assert_true(crowd_run(&crowd));
    assert_true(t->done > 0);
    return seconds() - begin;
}

/* As many as never fill the queue, but keep the worker busy, for a second: none is refused. */
static double measure_capacity(struct tally *t)
{
    double took = load(t, STEADY_CLIENTS, 0, LONG_MAX, seconds() + 1);
    assert_int_equal(t->refused, 0);
    return (double)t->done / took;
}

static void overload(struct tally *t, double capacity, double duration)
{
    double rate = TIMES * capacity;
    long most = (long)(rate * duration) + 1;
    double took = load(t, CLIENTS, rate, most, INFINITY);
    assert_int_equal(t->done + t->refused, most);
    assert_true(t->refused > 0);
    printf("of %.1f times the capacity of %.0f/s %ld were answered and %ld refused\n",
           (double)most / took / capacity, capacity, t->done, t->refused);
}

static void what_is_taken_is_answered_and_the_rest_is_refused(void **state)
{
    struct tally *t = *state;
    const char *wanted = getenv("OVERLOAD_SECONDS");
    fixture_check_alive(t->fixture);
    double memory = gauge(t->fixture, "tensord_memory_used_bytes");
    overload(t, measure_capacity(t), wanted ? atof(wanted) : 30);
    gauge_settle(t->fixture, "tensord_queue_jobs", 0);
    gauge_settle(t->fixture, "tensord_running_jobs", 0);
    gauge_settle(t->fixture, "tensord_open_connections", 1);
    gauge_settle(t->fixture, "tensord_memory_used_bytes", memory);
    measure_capacity(t);
    fixture_check_alive(t->fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_is_answered_and_the_rest_is_refused),
    };
    return cmocka_run_group_tests_name("overload", tests, start, stop);
}
