/* Overload for half a minute (OVERLOAD_SECONDS): at any moment five times as many requests ask as
 * there are places, and whoever is refused asks again at once. What the server takes is answered
 * right, the rest is told to come again, memory keeps its bound, and afterwards all is as before.
 */
#include "tests/support/crowd.h"
#include "tests/support/gauge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One job runs and eight wait. */
enum { PLACES = 9, CLIENTS = 5 * PLACES, ROWS = 1000000, BODY_MAX = 200, MEMORY = 256 << 20 };

struct tally {
    char bodies[CLIENTS][BODY_MAX];
    struct fixture *fixture;
    time_t end;
    int done, refused;
};

static int start(void **state)
{
    static const char *const settings[] = {"--workers=1", "--queue_jobs=8", "--memory=256M", NULL};
    return fixture_start_with(state, settings);
}

static time_t seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* A small request with much to do: 4 MB of zeros, and the member's number in the last row. */
static bool ask(void *context, int member, struct call *call)
{
    struct tally *t = context;
    char *body = t->bodies[member];
    int size = snprintf(body, BODY_MAX,
                        "{\"inputs\":{\"indices\":[[%d]],\"updates\":[%d],\"shape\":[%d]},"
                        "\"parameters\":{\"binary_data_output\":true}}",
                        ROWS - 1, member + 1, ROWS);
    *call =
        (struct call){.path = "/v2/models/scatter_nd/infer", .body = body, .size = (size_t)size};
    return seconds() < t->end;
}

static bool is_right(const struct answer *a, int member)
{
    size_t size = 0;
    const char *found = answer_tensors(a, &size);
    float last;
    if (!found || size != ROWS * sizeof last)
        return false;
    memcpy(&last, found + size - sizeof last, sizeof last);
    return last == (float)(member + 1);
}

static bool hear(void *context, int member, const struct answer *a)
{
    struct tally *t = context;
    if (!a)
        return false;
    if ((t->done + t->refused) % CLIENTS == 0)
        assert_true(gauge(t->fixture, "tensord_memory_used_bytes") <= MEMORY);
    if (a->status == 200) {
        t->done++;
        return is_right(a, member);
    }
    assert_int_equal(a->status, 503);
    expect_header(a, "Retry-After", "1");
    t->refused++;
    return true;
}

static void what_is_taken_is_answered_and_the_rest_is_refused(void **state)
{
    struct fixture *f = *state;
    struct tally *t = calloc(1, sizeof *t);
    const char *wanted = getenv("OVERLOAD_SECONDS");
    fixture_check_alive(f);
    assert_non_null(t);
    t->fixture = f;
    t->end = seconds() + (wanted ? atoi(wanted) : 30);
    struct crowd crowd = {
        .port = f->server.port, .members = CLIENTS, .context = t, .ask = ask, .hear = hear};
    assert_true(crowd_run(&crowd));
    assert_true(t->done > 0);
    assert_true(t->refused > 0);
    free(t);
    gauge_settle(f, "tensord_queue_jobs", 0);
    gauge_settle(f, "tensord_running_jobs", 0);
    gauge_settle(f, "tensord_open_connections", 1);
    fixture_check_alive(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_is_answered_and_the_rest_is_refused),
    };
    return cmocka_run_group_tests_name("overload", tests, start, fixture_stop);
}
