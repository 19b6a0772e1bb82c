/* tensor_load=first_use: nothing is read at the start, and each tensor when it is first asked for,
 * in whichever way. */
#include "tests/support/http/gauge.h"
#include "tests/support/http/kept.h"
#include "tests/support/http/preload.h"
#include "tests/support/http/scratch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const float numbers[] = {1, 2, 3, 4, 5, 6};

#define TABLE "{'x':{'dtype':'F32','shape':[3,2],'data_offsets':[0,24]}}"

static void write_table(const struct scratch *s, const char *file)
{
    scratch_tensors(s, file, TABLE, numbers, sizeof numbers);
}

static struct fixture *start(const struct scratch *s, const char *more)
{
    const char *const settings[] = {s->setting, "--tensor_load=first_use", "--snapshot_interval=0",
                                    more, NULL};
    void *f;
    assert_int_equal(fixture_start_with(&f, settings), 0);
    return f;
}

/* How many tensors are in memory. */
static int loaded(struct fixture *f)
{
    struct answer a = kept_call(f, "GET", "/v2/tensors", NULL, NULL);
    int count = 0;
    for (const char *p = a.body; (p = strstr(p, "\"name\":")); p++)
        count++;
    answer_release(&a);
    return count;
}

static void each_way_to_ask_loads(void **state)
{
    static const struct {
        const char *method, *path, *body;
        int status;
        const char *part;
    } asks[] = {
        {"GET", "/v2/tensors/t", NULL, 200, "\"shape\":[3,2],\"bytes\":24,\"version\":1"},
        {"GET", "/v2/tensors/t/data?rows=2:3", NULL, 200, "t"},
        {"POST", "/v2/models/gather_nd/infer?tensor=t", "{'inputs':{'indices':[[2]]}}", 200,
         "\"data\":[5.0,6.0]"},
        {"POST", "/v2/models/gather_nd/infer",
         "{'inputs':{'params':{'tensor':'t'},'indices':[[1]]}}", 200, "\"data\":[3.0,4.0]"},
        {"POST", "/v2/models/scatter_nd/infer?into=t",
         "{'inputs':{'indices':[[0]],'updates':[1],'shape':[2]}}", 403, "read only"},
        {"PUT", "/v2/tensors/t", "{'datatype':'FP32','shape':[1],'data':[1]}", 403, "read only"},
        {"DELETE", "/v2/tensors/t", NULL, 403, "read only"},
        {"PATCH", "/v2/tensors/t", "{'ttl':'1h'}", 403, "read only"},
        {"POST", "/v2/tensors/t/snapshot", NULL, 403, "read only"},
        {"PUT", "/v2/tensors/other?move=t", NULL, 403, "read only"},
    };
    struct scratch s;
    (void)state;
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        scratch_make(&s);
        write_table(&s, "t.safetensors");
        struct fixture *f = start(&s, NULL);
        assert_int_equal(loaded(f), 0);
        struct answer a = kept_call(f, asks[i].method, asks[i].path, NULL, asks[i].body);
        if (a.status != asks[i].status ||
            !memmem(a.body, a.size, asks[i].part, strlen(asks[i].part)))
            fail_msg("%s %s: %d %s", asks[i].method, asks[i].path, a.status, a.body);
        answer_release(&a);
        assert_int_equal(loaded(f), 1);
        fixture_end(f);
        scratch_remove(&s);
    }
}

/* Twice, since what is not there is remembered nowhere. */
static void what_has_no_file_is_not_there(void **state)
{
    static const struct {
        const char *method, *path, *body;
    } asks[] = {
        {"GET", "/v2/tensors/none", NULL},
        {"GET", "/v2/tensors/none/data", NULL},
        {"DELETE", "/v2/tensors/none", NULL},
        {"POST", "/v2/tensors/none/snapshot", NULL},
        {"POST", "/v2/models/gather_nd/infer?tensor=none", "{'inputs':{'indices':[[2]]}}"},
        {"POST", "/v2/models/tensor_scatter_add/infer?tensor=none&into=none",
         "{'inputs':{'indices':[[2]],'updates':[1]}}"},
        {"GET", "/v2/tensors/t.none", NULL},
        {"GET", "/v2/tensors/t.x", NULL},
    };
    struct scratch s;
    (void)state;
    scratch_make(&s);
    write_table(&s, "t.safetensors");
    struct fixture *f = start(&s, NULL);
    for (size_t i = 0; i < 2 * sizeof asks / sizeof *asks; i++) {
        size_t k = i / 2;
        struct answer a = kept_call(f, asks[k].method, asks[k].path, NULL, asks[k].body);
        expect_error(&a, 404, "TENSOR_NOT_FOUND", "there is no tensor ");
        answer_release(&a);
    }
    kept_expect(f, 412, "PUT", "/v2/tensors/none", "If-Match: *",
                "{'datatype':'FP32','shape':[1],'data':[1]}");
    kept_expect(f, 201, "PUT", "/v2/tensors/none", "If-None-Match: *",
                "{'datatype':'FP32','shape':[1],'data':[1]}");
    kept_expect(f, 204, "DELETE", "/v2/tensors/none", NULL, NULL);
    kept_expect(f, 404, "GET", "/v2/tensors/none", NULL, NULL);
    fixture_end(f);
    scratch_remove(&s);
}

static void parts_of_a_file_are_found(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    scratch_tensors(&s, "m.v1.safetensors",
                    "{'a.b':{'dtype':'F32','shape':[2],'data_offsets':[0,8]},"
                    "'data':{'dtype':'F64','shape':[2],'data_offsets':[8,24]}}",
                    numbers, sizeof numbers);
    struct fixture *f = start(&s, NULL);
    kept_holds(f, "m.v1.a.b", "[1.0,2.0]");
    assert_int_equal(loaded(f), 1);
    kept_expect(f, 404, "GET", "/v2/tensors/m.v1", NULL, NULL);
    kept_expect(f, 404, "GET", "/v2/tensors/m.v1.a", NULL, NULL);
    kept_expect(f, 404, "GET", "/v2/tensors/m", NULL, NULL);
    /* A tensor's own file goes before a part of another file. */
    write_table(&s, "m.v1.data.safetensors");
    kept_holds(f, "m.v1.data", "[1.0,2.0,3.0,4.0,5.0,6.0]");
    fixture_end(f);
    scratch_remove(&s);
}

/* The values of a request have the type of a table that is not in memory yet. */
static void the_type_of_values_is_the_files(void **state)
{
    static const double exact[] = {0.1, 0.2};
    struct scratch s;
    (void)state;
    scratch_make(&s);
    scratch_tensors(&s, "t.safetensors", "{'x':{'dtype':'F64','shape':[2],'data_offsets':[0,16]}}",
                    exact, sizeof exact);
    struct fixture *f = start(&s, NULL);
    struct answer a = kept_infer(f, "tensor_scatter_update/infer?tensor=t", NULL,
                                 "{'inputs':{'indices':[[1]],'updates':[0.3]}}");
    expect_part(&a, "\"datatype\":\"FP64\",\"shape\":[2],\"data\":[0.1,0.3]");
    answer_release(&a);
    fixture_end(f);
    scratch_remove(&s);
}

static void a_damaged_file_is_told_and_others_are_served(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    write_table(&s, "good.safetensors");
    scratch_write(&s, "bad.safetensors", "no tensor at all", 16);
    scratch_tensors(&s, "short.safetensors", TABLE, numbers, 20);
    assert_int_equal(symlink("good.safetensors", scratch_path(&s, "link.safetensors")), 0);
    struct fixture *f = start(&s, NULL);
    static const struct {
        const char *name, *part;
    } faults[] = {{"bad", "tensor_dir: bad.safetensors: "},
                  {"short", "tensor_dir: short.safetensors: "},
                  {"link", "link.safetensors is a link"},
                  {"bad.x", "tensor_dir: bad.safetensors: "}};
    for (size_t i = 0; i < 2 * sizeof faults / sizeof *faults; i++) {
        char path[64];
        snprintf(path, sizeof path, "/v2/tensors/%s", faults[i / 2].name);
        struct answer a = kept_call(f, "GET", path, NULL, NULL);
        expect_error(&a, 507, "TENSOR_FILE_FAILED", faults[i / 2].part);
        answer_release(&a);
        kept_expect(f, 507, "PUT", path, NULL, "{'datatype':'FP32','shape':[1],'data':[1]}");
        kept_holds(f, "good", "[1.0,2.0,3.0,4.0,5.0,6.0]");
    }
    /* Mended, it is loaded. */
    write_table(&s, "bad.safetensors");
    kept_holds(f, "bad", "[1.0,2.0,3.0,4.0,5.0,6.0]");
    fixture_end(f);
    scratch_remove(&s);
}

static void what_has_no_room_is_told(void **state)
{
    enum { BYTES = 3 << 20 };
    struct scratch s;
    char *zeros = calloc(1, BYTES);
    (void)state;
    assert_non_null(zeros);
    scratch_make(&s);
    for (int i = 0; i < 2; i++)
        scratch_tensors(&s, i ? "b.safetensors" : "a.safetensors",
                        "{'x':{'dtype':'U8','shape':[3145728],'data_offsets':[0,3145728]}}", zeros,
                        BYTES);
    free(zeros);
    struct fixture *f = start(&s, "--tensor_memory=5M");
    kept_expect(f, 200, "GET", "/v2/tensors/a", NULL, NULL);
    struct answer a = kept_call(f, "GET", "/v2/tensors/b", NULL, NULL);
    expect_error(&a, 507, "TENSOR_MEMORY_FULL", "b.safetensors");
    answer_release(&a);
    kept_expect(f, 200, "GET", "/v2/tensors/a", NULL, NULL);
    fixture_end(f);
    scratch_remove(&s);
}

/* What one life wrote the next one finds, tags and keys too; what it did not touch stays clean. */
static void a_restart_finds_all(void **state)
{
    static const char put[] = "{'datatype':'FP32','shape':[1],'data':[1]}";
    struct scratch s;
    char etag[2][128], again[128];
    (void)state;
    scratch_make(&s);
    struct fixture *f = start(&s, NULL);
    kept_expect(f, 201, "PUT", "/v2/tensors/a", "Idempotency-Key: k", put);
    kept_expect(f, 201, "PUT", "/v2/tensors/b", NULL, put);
    kept_etag(f, "a", etag[0]);
    kept_etag(f, "b", etag[1]);
    fixture_end(f);
    f = start(&s, NULL);
    struct answer a = kept_call(f, "PUT", "/v2/tensors/a", "Idempotency-Key: k", put);
    assert_int_equal(a.status, 201);
    expect_header(&a, "Idempotent-Replayed", "true");
    answer_release(&a);
    a = kept_call(f, "PUT", "/v2/tensors/a", "Idempotency-Key: k",
                  "{'datatype':'FP32','shape':[1],'data':[2]}");
    expect_error(&a, 422, "IDEMPOTENCY_KEY_REUSED", "");
    answer_release(&a);
    kept_etag(f, "a", again);
    assert_string_equal(again, etag[0]);
    fixture_end(f);
    f = start(&s, NULL);
    kept_etag(f, "b", again);
    assert_string_equal(again, etag[1]);
    kept_expect(f, 201, "PUT", "/v2/tensors/moved?move=b", NULL, NULL);
    kept_etag(f, "moved", etag[1]);
    fixture_end(f);
    f = start(&s, NULL);
    kept_etag(f, "moved", again);
    assert_string_equal(again, etag[1]);
    fixture_end(f);
    scratch_remove(&s);
}

/* --------------------------------------------------------------------------- many at a time */

enum { ASKERS = 8, BYTES = 3 << 20 };

struct asker {
    int port;
    bool is_served;
};

static void *ask_for_it(void *context)
{
    static const char body[] = "{\"inputs\":{\"indices\":[[2]]}}";
    struct asker *asker = context;
    struct client client;
    struct answer a;
    if (!client_init(&client, asker->port))
        return NULL;
    struct call call = {
        .path = "/v2/models/gather_nd/infer?tensor=t", .body = body, .size = sizeof body - 1};
    if (client_call(&client, &call, &a)) {
        asker->is_served = a.status == 200 && strstr(a.body, "\"data\":[0]");
        answer_release(&a);
    }
    client_release(&client);
    return NULL;
}

/* A table behind a disk that stands still, until `slow` is gone. */
static struct fixture *start_slowly(const struct scratch *s)
{
    const char *const settings[] = {s->setting, "--tensor_load=first_use", NULL};
    char *zeros = calloc(1, BYTES);
    void *f;
    assert_non_null(zeros);
    scratch_tensors(s, "t.safetensors",
                    "{'x':{'dtype':'U8','shape':[3145728],'data_offsets':[0,3145728]}}", zeros,
                    BYTES);
    free(zeros);
    write_table(s, "other.safetensors");
    scratch_write(s, "slow", "", 0);
    setenv("SLOW_DISK", scratch_path(s, "slow"), 1);
    assert_int_equal(preload_start(&f, "slow_disk.so", settings), 0);
    unsetenv("SLOW_DISK");
    return f;
}

static void many_that_ask_first_load_once(void **state)
{
    struct scratch s;
    struct asker askers[ASKERS];
    pthread_t threads[ASKERS];
    (void)state;
    if (!PRELOAD_WORKS)
        skip();
    scratch_make(&s);
    struct fixture *f = start_slowly(&s);
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = (struct asker){.port = f->server.port};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_for_it, &askers[i]), 0);
    }
    /* Only those who asked for the table wait for the disk. */
    gauge_settle(f, "tensord_tensor_waiting", ASKERS - 1);
    kept_holds(f, "other", "[1.0,2.0,3.0,4.0,5.0,6.0]");
    fixture_check_alive(f);
    unlink(scratch_path(&s, "slow"));
    for (int i = 0; i < ASKERS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(askers[i].is_served);
    }
    struct answer a = kept_call(f, "GET", "/metrics", NULL, NULL);
    expect_part(&a, "\ntensord_tensors_loaded_total 2\n");
    answer_release(&a);
    fixture_end(f);
    scratch_remove(&s);
}

static void *mend_soon(void *path)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    unlink(path);
    return NULL;
}

/* The first request passes its deadline, and the load that it began goes on for the others. */
static void a_deadline_ends_no_load(void **state)
{
    struct scratch s;
    pthread_t thread;
    char slow[96];
    (void)state;
    if (!PRELOAD_WORKS)
        skip();
    scratch_make(&s);
    struct fixture *f = start_slowly(&s);
    snprintf(slow, sizeof slow, "%s", scratch_path(&s, "slow"));
    assert_int_equal(pthread_create(&thread, NULL, mend_soon, slow), 0);
    struct answer a = kept_infer(f, "gather_nd/infer?tensor=t", NULL,
                                 "{'parameters':{'timeout':1000},'inputs':{'indices':[[2]]}}");
    pthread_join(thread, NULL);
    expect_error(&a, 504, "DEADLINE_EXCEEDED", "");
    answer_release(&a);
    kept_expect(f, 200, "GET", "/v2/tensors/t", NULL, NULL);
    a = kept_call(f, "GET", "/metrics", NULL, NULL);
    expect_part(&a, "\ntensord_tensors_loaded_total 1\n");
    answer_release(&a);
    fixture_end(f);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_to_ask_loads),
        cmocka_unit_test(what_has_no_file_is_not_there),
        cmocka_unit_test(parts_of_a_file_are_found),
        cmocka_unit_test(the_type_of_values_is_the_files),
        cmocka_unit_test(a_damaged_file_is_told_and_others_are_served),
        cmocka_unit_test(what_has_no_room_is_told),
        cmocka_unit_test(a_restart_finds_all),
        cmocka_unit_test(many_that_ask_first_load_once),
        cmocka_unit_test(a_deadline_ends_no_load),
    };
    return cmocka_run_group_tests_name("files_first_use", tests, NULL, NULL);
}
