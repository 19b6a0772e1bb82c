/* What becomes of requests that wait in line for a kept tensor: the table of states in
 * server/tensors/line.h, each cell over sockets. A long job holds the line meanwhile. */
#include "tests/support/http/gauge.h"
#include "tests/support/http/long_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { READERS = 1000, LATE = 200 };

static int start(void **state)
{
    static const char *const settings[] = {"--workers=3", "--queue_jobs=10000", "--memory=2G",
                                           NULL};
    return fixture_start_with(state, settings);
}

/* A request by hand, so that its answer can be awaited later. */
static struct raw say(struct fixture *f, const char *method, const char *path, const char *header,
                      const char *body)
{
    struct raw r = fixture_raw(f);
    char *text = quote(body);
    assert_true(raw_printf(&r,
                           "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
                           "\r\n%s%sContent-Length: %zu\r\n\r\n%s",
                           method, path, header, *header ? "\r\n" : "", strlen(text), text));
    free(text);
    return r;
}

static struct answer await(struct raw *r)
{
    struct answer a;
    assert_true(raw_read(r, &a, false));
    raw_close(r);
    return a;
}

static void await_status(struct raw *r, int status)
{
    struct answer a = await(r);
    if (a.status != status)
        fail_msg("%d instead of %d: %s", a.status, status, a.body);
    answer_release(&a);
}

static void put(struct fixture *f, const char *name, const char *body)
{
    char path[64];
    snprintf(path, sizeof path, "/v2/tensors/%s", name);
    struct raw r = say(f, "PUT", path, "", body);
    struct answer a = await(&r);
    assert_true(a.status == 200 || a.status == 201);
    answer_release(&a);
}

static void waiting(struct fixture *f, int count)
{
    gauge_settle(f, "tensord_tensor_waiting", count);
}

/* A job that writes the tensor holds its line until the connection closes: then it ends without
 * having written anything. */
static struct raw hold(struct fixture *f, const char *query)
{
    struct raw r = fixture_raw(f);
    assert_true(long_job_say_with(&r, query));
    gauge_settle(f, "tensord_running_jobs", 1);
    return r;
}

static void let_go(struct fixture *f, struct raw *r)
{
    raw_close(r);
    gauge_settle(f, "tensord_running_jobs", 0);
}

static void nothing_is_left(struct fixture *f)
{
    waiting(f, 0);
    gauge_settle(f, "tensord_queue_jobs", 0);
    gauge_settle(f, "tensord_running_jobs", 0);
    gauge_settle(f, "tensord_open_requests", 1);
}

static const char add[] = "/v2/models/tensor_scatter_add/infer?tensor=a&into=a";
static const char gather[] = "/v2/models/gather_nd/infer?tensor=a";
static const char one[] = "{'datatype':'INT8','shape':[3],'data':[1,2,3]}";

static void a_deadline_ends_a_wait_and_frees_the_key(void **state)
{
    struct fixture *f = *state;
    put(f, "a", one);
    struct raw holder = hold(f, "?into=a");
    struct raw late =
        say(f, "POST", add, "Idempotency-Key: k",
            "{'inputs':{'indices':[[0]],'updates':[1]},'parameters':{'timeout':1000}}");
    struct answer a = await(&late);
    expect_error(&a, 504, "DEADLINE_EXCEEDED", "timeout of 1 ms");
    answer_release(&a);
    waiting(f, 0);
    let_go(f, &holder);
    struct raw again = say(f, "POST", add, "Idempotency-Key: k",
                           "{'inputs':{'indices':[[0]],'updates':[1]},'parameters':{'timeout':0}}");
    a = await(&again);
    assert_int_equal(a.status, 200);
    expect_header(&a, "Idempotent-Replayed", NULL);
    answer_release(&a);
    nothing_is_left(f);
}

/* A writer that leaves the line lets the readers behind it join those in front. */
static void a_client_that_leaves_brings_on_those_behind(void **state)
{
    struct fixture *f = *state;
    float *zeros = calloc(LONG_JOB_COLUMNS, sizeof *zeros);
    struct answer a =
        fixture_call(f, &(struct call){.method = "PUT",
                                       .path = "/v2/tensors/table?datatype=FP32&shape=1,262144",
                                       .body = zeros,
                                       .size = LONG_JOB_COLUMNS * sizeof *zeros});
    assert_int_equal(a.status, 201);
    answer_release(&a);
    free(zeros);
    struct raw reader = fixture_raw(f);
    assert_true(long_job_read(&reader, "table"));
    gauge_settle(f, "tensord_running_jobs", 1);
    struct raw writer = say(f, "PATCH", "/v2/tensors/table", "", "{'ttl':null}");
    waiting(f, 1);
    struct raw behind = say(f, "GET", "/v2/tensors/table/data?rows=0:1", "", "");
    waiting(f, 2);
    raw_close(&writer);
    await_status(&behind, 200);
    let_go(f, &reader);
    struct raw drop = say(f, "DELETE", "/v2/tensors/table", "", "");
    await_status(&drop, 204);
    nothing_is_left(f);
}

/* Whether this program may have that many connections. */
static bool may_open(rlim_t files)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_max >= files;
}

static void who_waits_behind_a_delete_finds_nothing(void **state)
{
    struct fixture *f = *state;
    static struct raw before[READERS], after[LATE];
    if (!may_open(READERS + LATE + 100))
        skip(); /* RLIMIT_NOFILE */
    put(f, "a", one);
    struct raw holder = hold(f, "?into=a");
    for (int i = 0; i < READERS; i++)
        before[i] = i % 2 ? say(f, "GET", "/v2/tensors/a/data", "", "")
                          : say(f, "POST", gather, "", "{'inputs':{'indices':[[0]]}}");
    waiting(f, READERS);
    struct raw drop = say(f, "DELETE", "/v2/tensors/a", "", "");
    waiting(f, READERS + 1);
    for (int i = 0; i < LATE; i++)
        after[i] = say(f, "POST", gather, "", "{'inputs':{'indices':[[0]]}}");
    waiting(f, READERS + LATE + 1);
    let_go(f, &holder);
    for (int i = 0; i < READERS; i++)
        await_status(&before[i], 200);
    await_status(&drop, 204);
    for (int i = 0; i < LATE; i++)
        await_status(&after[i], 404);
    nothing_is_left(f);
}

static void who_waits_behind_a_replacement_sees_the_new_one(void **state)
{
    struct fixture *f = *state;
    put(f, "a", one);
    struct raw holder = hold(f, "?into=a");
    struct raw replace = say(f, "PUT", "/v2/tensors/a", "", "{'datatype':'INT32','data':[7,8]}");
    waiting(f, 1);
    struct raw inside = say(f, "POST", gather, "", "{'inputs':{'indices':[[1]]}}");
    struct raw outside = say(f, "POST", gather, "", "{'inputs':{'indices':[[2]]}}");
    struct raw said = say(f, "POST", add, "",
                          "{'inputs':{'indices':[[0]],'updates':{'datatype':'INT32','data':[5]}}}");
    struct raw unsaid = say(f, "POST", add, "", "{'inputs':{'indices':[[0]],'updates':[1]}}");
    waiting(f, 5);
    let_go(f, &holder);
    await_status(&replace, 200);
    struct answer a = await(&inside);
    expect_part(&a, "\"data\":[8]");
    answer_release(&a);
    a = await(&outside);
    expect_error(&a, 400, "INDEX_OUT_OF_BOUNDS", "[2]");
    answer_release(&a);
    await_status(&said, 200);
    /* The values of this request were read as INT8. */
    a = await(&unsaid);
    expect_error(&a, 409, "CONFLICT", "INT32");
    expect_header(&a, "Retry-After", "1");
    answer_release(&a);
    nothing_is_left(f);
    assert_true(gauge(f, "tensord_line_seconds_count{op=\"gather_nd\"}") >= 2);
}

static void a_key_that_is_being_worked_on_conflicts(void **state)
{
    struct fixture *f = *state;
    static const char update[] = "{'inputs':{'indices':[[0]],'updates':[1]}}";
    put(f, "a", one);
    struct raw holder = hold(f, "?into=a");
    struct raw first = say(f, "POST", add, "Idempotency-Key: twice", update);
    waiting(f, 1);
    struct raw second = say(f, "POST", add, "Idempotency-Key: twice", update);
    struct answer a = await(&second);
    expect_error(&a, 409, "CONFLICT", "still being worked on");
    answer_release(&a);
    let_go(f, &holder);
    await_status(&first, 200);
    second = say(f, "POST", add, "Idempotency-Key: twice", update);
    a = await(&second);
    assert_int_equal(a.status, 200);
    expect_header(&a, "Idempotent-Replayed", "true");
    answer_release(&a);
    nothing_is_left(f);
}

/* A tensor whose lease is over goes when nobody is in line, else when the last in line has left. */
static void a_lease_does_not_end_while_somebody_waits(void **state)
{
    struct fixture *f = *state;
    struct timespec wait = {.tv_nsec = 400 * 1000000};
    struct raw r = say(f, "PUT", "/v2/tensors/a?ttl=300ms", "", one);
    await_status(&r, 200);
    struct raw holder = hold(f, "?into=a");
    struct raw reader = say(f, "GET", "/v2/tensors/a/data", "", "");
    waiting(f, 1);
    nanosleep(&wait, NULL);
    let_go(f, &holder);
    await_status(&reader, 200);
    nanosleep(&wait, NULL);
    r = say(f, "GET", "/v2/tensors/a", "", "");
    await_status(&r, 404);
    nothing_is_left(f);
}

static void a_line_is_bounded_by_the_queues_bounds(void **state)
{
    static const char *const settings[] = {"--workers=2", "--queue_jobs=8", "--memory=2G", NULL};
    void *own;
    (void)state;
    assert_int_equal(fixture_start_with(&own, settings), 0);
    struct raw holder = hold(own, "?into=a");
    struct raw first = say(own, "GET", "/v2/tensors/a/data", "", "");
    waiting(own, 1);
    struct raw second = say(own, "GET", "/v2/tensors/a/data", "", "");
    struct answer a = await(&second);
    expect_error(&a, 503, "QUEUE_FULL", "a quarter of what queue_jobs");
    answer_release(&a);
    /* Other names have lines of their own. */
    struct raw other = say(own, "PUT", "/v2/tensors/b", "", one);
    await_status(&other, 201);
    let_go(own, &holder);
    await_status(&first, 404);
    assert_int_equal(fixture_stop(&own), 0);
}

/* The request that holds the line is stopped, those in line are told to go elsewhere, and the
 * process ends with nothing held. */
static void a_drain_ends_those_who_wait(void **state)
{
    static const char *const settings[] = {"--workers=2", "--drain_timeout=300ms", "--memory=2G",
                                           NULL};
    void *own;
    (void)state;
    assert_int_equal(fixture_start_with(&own, settings), 0);
    struct fixture *f = own;
    struct raw holder = hold(own, "?into=a");
    struct raw waits = say(own, "GET", "/v2/tensors/a/data", "", "");
    waiting(own, 1);
    server_terminate(&f->server);
    struct answer a = await(&waits);
    expect_error(&a, 503, "DRAINING", "another one");
    answer_release(&a);
    raw_close(&holder);
    assert_int_equal(fixture_stop(&own), 0);
}

/* A write that has begun is finished, though its client has left. */
static void a_write_that_began_is_whole(void **state)
{
    enum { WIDTH = 1 << 20, ROUNDS = 8 };
    struct fixture *f = *state;
    struct raw r =
        say(f, "PUT", "/v2/tensors/wide", "", "{'datatype':'INT32','shape':[1,1048576]}");
    await_status(&r, 201);
    int32_t index = 0, *ones = malloc(WIDTH * sizeof *ones);
    for (int i = 0; i < WIDTH; i++)
        ones[i] = 1;
    const struct part parts[] = {{"indices", "INT32", "[1,1]", &index, sizeof index},
                                 {"updates", "INT32", "[1,1048576]", ones, WIDTH * sizeof *ones}};
    struct body body;
    assert_true(body_binary(&body, parts, 2, ""));
    for (int i = 0; i < ROUNDS; i++) {
        struct raw writer = fixture_raw(f);
        assert_true(
            raw_printf(&writer,
                       "POST /v2/models/tensor_scatter_add/infer?tensor=wide&into=wide "
                       "HTTP/1.1\r\nHost: localhost\r\n"
                       "Inference-Header-Content-Length: %zu\r\nContent-Length: %zu\r\n\r\n",
                       body.header_length, body.size));
        assert_true(raw_send(&writer, body.data, body.size));
        raw_reset(&writer);
    }
    nothing_is_left(f);
    struct answer a = fixture_call(f, &(struct call){.path = "/v2/tensors/wide/data",
                                                     .headers = {"Accept: "
                                                                 "application/octet-stream"}});
    assert_int_equal(a.status, 200);
    const int32_t *all = (const int32_t *)(const void *)a.body;
    for (int i = 1; i < WIDTH; i++)
        if (all[i] != all[0])
            fail_msg("column %d has %d, column 0 has %d", i, all[i], all[0]);
    answer_release(&a);
    body_release(&body);
    free(ones);
    r = say(f, "DELETE", "/v2/tensors/wide", "", "");
    await_status(&r, 204);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_ends_a_wait_and_frees_the_key),
        cmocka_unit_test(a_client_that_leaves_brings_on_those_behind),
        cmocka_unit_test(who_waits_behind_a_delete_finds_nothing),
        cmocka_unit_test(who_waits_behind_a_replacement_sees_the_new_one),
        cmocka_unit_test(a_key_that_is_being_worked_on_conflicts),
        cmocka_unit_test(a_lease_does_not_end_while_somebody_waits),
        cmocka_unit_test(a_line_is_bounded_by_the_queues_bounds),
        cmocka_unit_test(a_drain_ends_those_who_wait),
        cmocka_unit_test(a_write_that_began_is_whole),
    };
    return cmocka_run_group_tests_name("tensors_line", tests, start, fixture_stop);
}
