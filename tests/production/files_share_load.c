/* tensor_share: several servers on one folder, without a balancer before them. */
#include "tests/support/http/gauge.h"
#include "tests/support/http/kept.h"
#include "tests/support/http/preload.h"
#include "tests/support/http/scratch.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define T      "/v2/tensors/t"
#define PUT_12 "{'datatype':'FP32','shape':[2],'data':[1,2]}"

/* Of those that are waited for: longer than a busy machine keeps a thread from running, or servers
 * lose what they hold. */
#define SHORT "--tensor_lease=3s"
#define LONG  "--tensor_lease=5m"

static struct fixture *start(const struct scratch *s, const char *lease)
{
    const char *const settings[] = {s->setting, "--tensor_load=first_use", "--tensor_share=true",
                                    lease,      "--snapshot_interval=0",   NULL};
    void *f;
    assert_int_equal(fixture_start_with(&f, settings), 0);
    return f;
}

/* Its disk stands still while the file `slow` is there. */
static struct fixture *start_slowly(const struct scratch *s, const char *interval)
{
    const char *const settings[] = {
        s->setting, "--tensor_load=first_use", "--tensor_share=true", SHORT, interval, NULL};
    void *f;
    setenv("SLOW_DISK", scratch_path(s, "slow"), 1);
    setenv("SLOW_SYNC", scratch_path(s, "slow"), 1);
    assert_int_equal(preload_start(&f, "slow_disk.so", settings), 0);
    unsetenv("SLOW_DISK");
    unsetenv("SLOW_SYNC");
    return f;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void save(struct fixture *f)
{
    kept_expect(f, 200, "POST", T "/snapshot", NULL, NULL);
}

static struct answer add(struct fixture *f, const char *header)
{
    return kept_infer(f, "tensor_scatter_add/infer?tensor=t&into=t", header,
                      "{'inputs':{'indices':[[0]],'updates':[10]}}");
}

static void add_now(struct fixture *f)
{
    struct answer a = add(f, NULL);
    if (a.status != 200)
        fail_msg("%d %s", a.status, a.body);
    answer_release(&a);
}

static void expect_held(struct answer a)
{
    expect_error(&a, 503, "TENSOR_HELD", "is held by the server ");
    expect_header(&a, "Retry-After", "1");
    answer_release(&a);
}

/* Asks for the lease until the server gets it. */
static void await_lease(struct fixture *f)
{
    enum { STEP_MS = 25, PATIENCE = 60000 / STEP_MS };
    for (int i = 0; i < PATIENCE; i++) {
        struct answer a = kept_call(f, "PATCH", T, NULL, "{'ttl':null}");
        if (a.status == 200) {
            answer_release(&a);
            return;
        }
        expect_held(a);
        pause_ms(STEP_MS);
    }
    fail_msg("the name is never free");
}

static void one_writes_and_others_read(void **state)
{
    struct scratch s;
    char etag[2][128];
    (void)state;
    scratch_make(&s);
    struct fixture *a = start(&s, LONG), *b = start(&s, LONG);
    kept_put(a, "t", PUT_12);
    expect_held(kept_call(b, "PUT", T, NULL, PUT_12));
    kept_expect(b, 404, "GET", T, NULL, NULL);
    save(a);
    kept_holds(b, "t", "[1.0,2.0]");
    kept_etag(a, "t", etag[0]);
    kept_etag(b, "t", etag[1]);
    /* The same generation, and an epoch that says that the writer may be further. */
    assert_memory_equal(etag[0], etag[1], strcspn(etag[0], "-"));
    assert_string_not_equal(etag[0], etag[1]);
    assert_true(gauge(b, "tensord_tensor_epochs_total") == 1);
    add_now(a);
    kept_holds(b, "t", "[1.0,2.0]");
    save(a);
    kept_holds(b, "t", "[11.0,2.0]");
    expect_held(add(b, NULL));
    expect_held(kept_call(b, "DELETE", T, NULL, NULL));
    expect_held(kept_call(b, "PATCH", T, NULL, "{'ttl':'1h'}"));
    expect_held(kept_call(b, "POST", T "/snapshot", NULL, NULL));
    expect_held(kept_call(b, "PUT", "/v2/tensors/u?move=t", NULL, NULL));
    expect_held(kept_call(b, "PUT", T "/data?rows=0:1&datatype=FP32&shape=1", NULL, "four"));
    kept_put(b, "u", PUT_12);
    kept_holds(a, "t", "[11.0,2.0]");
    kept_expect(a, 204, "DELETE", T, NULL, NULL);
    kept_expect(b, 404, "GET", T, NULL, NULL);
    fixture_end(a);
    fixture_end(b);
    scratch_remove(&s);
}

/* What is moved away is written by one server as well. */
static void a_moved_tensor_is_read_by_others(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    struct fixture *a = start(&s, LONG), *b = start(&s, LONG);
    kept_put(a, "t", PUT_12);
    save(a);
    kept_holds(b, "t", "[1.0,2.0]");
    kept_put(a, "next", "{'datatype':'FP32','shape':[1],'data':[7]}");
    kept_expect(a, 200, "PUT", T "?move=next", NULL, NULL);
    kept_holds(b, "t", "[7.0]");
    kept_expect(b, 404, "GET", "/v2/tensors/next", NULL, NULL);
    fixture_end(a);
    fixture_end(b);
    scratch_remove(&s);
}

/* All is saved and free as soon as the process is gone, with tags and keys. */
static void a_drain_hands_over_at_once(void **state)
{
    struct scratch s;
    char etag[2][128];
    (void)state;
    scratch_make(&s);
    struct fixture *a = start(&s, LONG), *b = start(&s, LONG);
    kept_put(a, "t", PUT_12);
    struct answer added = add(a, "Idempotency-Key: k");
    assert_int_equal(added.status, 200);
    answer_release(&added);
    kept_etag(a, "t", etag[0]);
    expect_held(add(b, "Idempotency-Key: k"));
    fixture_end(a);
    added = add(b, "Idempotency-Key: k");
    assert_int_equal(added.status, 200);
    expect_header(&added, "Idempotent-Replayed", "true");
    answer_release(&added);
    kept_etag(b, "t", etag[1]);
    assert_string_equal(etag[0], etag[1]);
    assert_true(gauge(b, "tensord_tensor_epochs_total") == 0);
    add_now(b);
    kept_holds(b, "t", "[21.0,2.0]");
    fixture_end(b);
    scratch_remove(&s);
}

/* Nobody drains: who uses it gets it. */
static void an_idle_name_is_let_go(void **state)
{
    struct scratch s;
    char etag[2][128];
    (void)state;
    scratch_make(&s);
    struct fixture *a = start(&s, SHORT), *b = start(&s, SHORT);
    kept_put(a, "t", PUT_12);
    add_now(a);
    kept_etag(a, "t", etag[0]);
    await_lease(b);
    add_now(b);
    struct answer list = kept_call(a, "GET", "/v2/tensors", NULL, NULL);
    assert_null(strstr(list.body, "\"t\""));
    answer_release(&list);
    kept_etag(b, "t", etag[1]);
    /* One version later of the same generation and epoch: nothing was lost. */
    assert_memory_equal(etag[0], etag[1], strlen(etag[0]) - 2);
    kept_holds(b, "t", "[21.0,2.0]");
    save(b);
    kept_holds(a, "t", "[21.0,2.0]");
    fixture_end(a);
    fixture_end(b);
    scratch_remove(&s);
}

/* What was saved stays; what was told and not saved never seems to be true again. */
static void a_killed_server_is_followed_after_a_term(void **state)
{
    struct scratch s;
    char etag[2][128];
    (void)state;
    scratch_make(&s);
    struct fixture *a = start(&s, SHORT), *b = start(&s, SHORT), *c = start(&s, SHORT);
    kept_put(a, "t", PUT_12);
    save(a);
    add_now(a);
    kept_etag(a, "t", etag[0]);
    fixture_kill(a);
    await_lease(b);
    add_now(b);
    kept_holds(b, "t", "[11.0,2.0]");
    kept_etag(b, "t", etag[1]);
    assert_string_not_equal(etag[0], etag[1]);
    kept_holds(c, "t", "[1.0,2.0]");
    fixture_end(b);
    kept_holds(c, "t", "[11.0,2.0]");
    add_now(c);
    kept_holds(c, "t", "[21.0,2.0]");
    fixture_end(c);
    scratch_remove(&s);
}

/* A server that stands still longer than a term, with a write that is in no file. */
static struct fixture *freeze(const struct scratch *s, struct fixture *b)
{
    struct fixture *a = start(s, SHORT);
    kept_put(a, "t", PUT_12);
    save(a);
    add_now(a);
    kept_put(a, "own", PUT_12);
    kill(a->server.pid, SIGSTOP);
    await_lease(b);
    add_now(b);
    add_now(b);
    save(b);
    kept_holds(b, "t", "[21.0,2.0]");
    kill(a->server.pid, SIGCONT);
    return a;
}

static void a_server_that_slept_refuses(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    struct fixture *b = start(&s, SHORT), *a = freeze(&s, b);
    expect_held(add(a, NULL));
    kept_holds(a, "t", "[21.0,2.0]");
    /* What nobody took meanwhile is not lost. */
    kept_holds(a, "own", "[1.0,2.0]");
    kept_put(a, "own", PUT_12);
    assert_true(server_says(&a->server, "another server took the tensor", 1));
    add_now(b);
    fixture_end(b);
    add_now(a);
    kept_holds(a, "t", "[41.0,2.0]");
    fixture_end(a);
    scratch_remove(&s);
}

/* At once, without a request that would have told it: its end says that something was lost. */
static void a_server_that_slept_saves_nothing_of_anothers(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    struct fixture *b = start(&s, SHORT), *a = freeze(&s, b);
    server_terminate(&a->server);
    assert_int_equal(server_wait(&a->server), 1);
    client_release(&a->client);
    free(a);
    add_now(b);
    kept_holds(b, "t", "[31.0,2.0]");
    kept_holds(b, "own", "[1.0,2.0]");
    fixture_end(b);
    b = start(&s, SHORT);
    kept_holds(b, "t", "[31.0,2.0]");
    fixture_end(b);
    scratch_remove(&s);
}

/* ------------------------------------------------------------- in the middle of something */

struct asker {
    int port;
    const char *method, *path, *body;
    int status;
    char code[64];
    pthread_t thread;
};

static void *ask(void *context)
{
    struct asker *asker = context;
    struct client client;
    struct answer a;
    if (!client_init(&client, asker->port))
        return NULL;
    struct call call = {.method = asker->method,
                        .path = asker->path,
                        .body = asker->body,
                        .size = strlen(asker->body)};
    if (client_call(&client, &call, &a)) {
        const char *code = answer_header(&a, "Error-Code");
        asker->status = a.status;
        snprintf(asker->code, sizeof asker->code, "%s", code ? code : "");
        answer_release(&a);
    }
    client_release(&client);
    return NULL;
}

/* A server that is at something, waits for its disk and stands still longer than a term; when it
 * goes on, another has written. */
static void sleep_in(struct fixture *a, struct fixture *b, const struct scratch *s)
{
    gauge_settle(a, "tensord_running_jobs", 1);
    kill(a->server.pid, SIGSTOP);
    await_lease(b);
    kept_expect(b, 200, "PUT", T, NULL, PUT_12);
    save(b);
    kill(a->server.pid, SIGCONT);
    unlink(scratch_path(s, "slow"));
}

/* By time, so that the server has no other occasion to notice. */
static void who_sleeps_in_a_snapshot_writes_over_nothing(void **state)
{
    struct scratch s;
    (void)state;
    if (!PRELOAD_WORKS)
        skip();
    scratch_make(&s);
    struct fixture *a = start_slowly(&s, "--snapshot_interval=1s"), *b = start(&s, SHORT);
    kept_put(a, "t", "{'datatype':'FP32','shape':[1],'data':[7]}");
    save(a);
    scratch_write(&s, "slow", "", 0);
    kept_expect(a, 200, "PATCH", T, NULL, "{'ttl':'1h'}");
    sleep_in(a, b, &s);
    assert_true(server_says(&a->server, "this server does not hold the tensor", 1));
    kept_holds(a, "t", "[1.0,2.0]");
    fixture_end(a);
    fixture_end(b);
    scratch_remove(&s);
}

/* A table with a row of updates that is loaded from a slow disk. */
static void who_sleeps_in_a_write_does_not_say_that_it_is_done(void **state)
{
    enum { COLUMNS = 1 << 18 };
    struct asker asker = {.method = "POST",
                          .path = "/v2/models/tensor_scatter_add/infer?tensor=t&into=t",
                          .body =
                              "{\"inputs\":{\"indices\":[[0]],\"updates\":{\"tensor\":\"u\"}}}"};
    struct scratch s;
    (void)state;
    if (!PRELOAD_WORKS)
        skip();
    float *row = calloc(COLUMNS, sizeof *row);
    assert_non_null(row);
    scratch_make(&s);
    scratch_tensors(&s, "u.safetensors",
                    "{'x':{'dtype':'F32','shape':[1,262144],'data_offsets':[0,1048576]}}", row,
                    COLUMNS * sizeof *row);
    free(row);
    struct fixture *a = start_slowly(&s, "--snapshot_interval=0"), *b = start(&s, SHORT);
    kept_put(a, "t", "{'datatype':'FP32','shape':[2,262144]}");
    save(a);
    scratch_write(&s, "slow", "", 0);
    asker.port = a->server.port;
    assert_int_equal(pthread_create(&asker.thread, NULL, ask, &asker), 0);
    sleep_in(a, b, &s);
    pthread_join(asker.thread, NULL);
    assert_int_equal(asker.status, 503);
    assert_string_equal(asker.code, "TENSOR_HELD");
    kept_holds(a, "t", "[1.0,2.0]");
    add_now(b);
    kept_holds(b, "t", "[11.0,2.0]");
    fixture_end(a);
    fixture_end(b);
    scratch_remove(&s);
}

static void servers_that_share_and_others_keep_apart(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    struct fixture *a = start(&s, LONG);
    const struct {
        const char *settings[6], *part;
    } refused[] = {
        {{s.setting, NULL}, "another tensord writes to"},
        {{s.setting, "--tensor_share=true", NULL}, "tensor_share needs tensor_dir"},
        {{"--tensor_load=first_use", "--tensor_share=true", NULL}, "tensor_share needs tensor_dir"},
        {{s.setting, "--tensor_lease=999ms", NULL}, "tensor_lease"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *text;
        assert_int_equal(server_refuse(refused[i].settings, &text), 1);
        if (!strstr(text, refused[i].part))
            fail_msg("%s", text);
        free(text);
    }
    fixture_end(a);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_writes_and_others_read),
        cmocka_unit_test(a_moved_tensor_is_read_by_others),
        cmocka_unit_test(a_drain_hands_over_at_once),
        cmocka_unit_test(an_idle_name_is_let_go),
        cmocka_unit_test(a_killed_server_is_followed_after_a_term),
        cmocka_unit_test(a_server_that_slept_refuses),
        cmocka_unit_test(a_server_that_slept_saves_nothing_of_anothers),
        cmocka_unit_test(who_sleeps_in_a_snapshot_writes_over_nothing),
        cmocka_unit_test(who_sleeps_in_a_write_does_not_say_that_it_is_done),
        cmocka_unit_test(servers_that_share_and_others_keep_apart),
    };
    return cmocka_run_group_tests_name("files_share_load", tests, NULL, NULL);
}
