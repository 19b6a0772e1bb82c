/* The server with a CUDA device, over HTTP: jobs on both devices at a time, memory that is short, a
 * device that is lost, and the end. TENSORD names a server that is built with CUDA. What only the
 * interpreter can be told to do is skipped on a GPU (ON_PTXEMU is not set). */
#include "tests/support/crowd.h"
#include "tests/support/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CLIENTS = 8, REQUESTS = 400, BEFORE = 100 };

static void must_be_interpreted(void)
{
    if (!getenv("ON_PTXEMU"))
        skip();
}

/* A server of its own for one test; everything goes to the device that asks for it. */
static struct fixture start(const char *const *more)
{
    const char *settings[8] = {"--cuda_threshold=0", "--cuda_streams=2"};
    struct fixture f;
    for (int i = 0; more && more[i]; i++)
        settings[i + 2] = more[i];
    assert_true(server_start(&f.server, settings));
    assert_true(client_init(&f.client, f.server.port));
    return f;
}

static void stop(struct fixture *f)
{
    client_release(&f->client);
    assert_int_equal(server_stop(&f->server), 0);
}

static int logged(struct fixture *f, const char *text)
{
    char *log = server_log(&f->server);
    int count = 0;
    assert_non_null(log);
    for (const char *at = log; (at = strstr(at, text)); at++)
        count++;
    free(log);
    return count;
}

/* The log is written a little later than the answer. */
static void expect_logged(struct fixture *f, const char *text, int least)
{
    for (int waits = 0; waits < 500 && logged(f, text) < least; waits++)
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    assert_true(logged(f, text) >= least);
}

static void expect_call(struct fixture *f, const char *path, int status, const char *part)
{
    struct answer a = fixture_call(f, &(struct call){.path = path});
    assert_int_equal(a.status, status);
    expect_part(&a, part);
    answer_release(&a);
}

/* ------------------------------------------------------------------------- jobs on both devices */

static const struct {
    const char *op, *json, *answer;
    int status;
} requests[] = {
    {"tensor_scatter_add",
     "{'inputs':{'tensor':[1,2,3,4],'indices':[[1],[3],[1]],'updates':[10,20,5]},"
     "'parameters':{'device':'cuda'}}",
     "[1.0,17.0,3.0,24.0]", 200},
    {"tensor_scatter_sub",
     "{'inputs':{'tensor':[1,2,3,4],'indices':[[1],[3],[1]],'updates':[10,20,5]},"
     "'parameters':{'device':'cpu'}}",
     "[1.0,-13.0,3.0,-16.0]", 200},
    {"scatter_nd", "{'inputs':{'indices':[[2],[0],[2]],'updates':[1,2,3],'shape':[4]}}",
     "[2.0,0.0,4.0,0.0]", 200},
    {"gather_nd",
     "{'inputs':{'params':[[1,2],[3,4]],'indices':[[1],[0]]},'parameters':{'device':'cuda:0'}}",
     "[3.0,4.0,1.0,2.0]", 200},
    {"sparse_segment_mean",
     "{'inputs':{'data':[[1,2],[3,4],[5,6]],'indices':[2,0,1],'segment_ids':[0,0,2]}}",
     "[3.0,4.0,0.0,0.0,3.0,4.0]", 200},
    {"tensor_scatter_add",
     "{'inputs':{'tensor':[1,2],'indices':[[0],[7]],'updates':[1,1]},"
     "'parameters':{'device':'auto'}}",
     "indices[1] = [7] is out of bounds for shape [2] of tensor", 400},
    {"tensor_scatter_add",
     "{'inputs':{'tensor':[1,2],'indices':[[0],[7]],'updates':[1,1]},"
     "'parameters':{'device':'cuda'}}",
     "[2.0,2.0]", 200}, /* the default policy of a CUDA device: ignored and counted */
};
enum { KINDS = sizeof requests / sizeof *requests };

struct mix {
    char *bodies[KINDS];
    char paths[KINDS][64];
    int asked, kinds[CLIENTS];
};

static void mix_init(struct mix *m)
{
    memset(m, 0, sizeof *m);
    for (int i = 0; i < KINDS; i++) {
        m->bodies[i] = quote(requests[i].json);
        snprintf(m->paths[i], sizeof m->paths[i], "/v2/models/%s/infer", requests[i].op);
    }
}

static void mix_release(struct mix *m)
{
    for (int i = 0; i < KINDS; i++)
        free(m->bodies[i]);
}

static bool ask(void *context, int member, struct call *call)
{
    struct mix *m = context;
    int kind = m->kinds[member] = (m->asked + member) % KINDS;
    *call = (struct call){
        .path = m->paths[kind], .body = m->bodies[kind], .size = strlen(m->bodies[kind])};
    return m->asked++ < REQUESTS;
}

static bool hear(void *context, int member, const struct answer *a)
{
    const struct mix *m = context;
    int kind = m->kinds[member];
    bool right = a && a->status == requests[kind].status && strstr(a->body, requests[kind].answer);
    if (!right)
        print_message("%s: %d %s\n", m->bodies[kind], a ? a->status : 0, a ? a->body : "none");
    return right;
}

static void mixed_jobs_run_on_two_streams_and_the_cpu(void **state)
{
    struct fixture f = start(NULL);
    struct mix m;
    (void)state;
    mix_init(&m);
    assert_true(crowd_run(&(struct crowd){
        .port = f.server.port, .members = CLIENTS, .context = &m, .ask = ask, .hear = hear}));
    mix_release(&m);
    expect_call(&f, "/v2", 200, "\"devices\":[\"cpu\",\"cuda:0\"]");
    expect_call(&f, "/metrics", 200, "tensord_backend_up{backend=\"cuda\"} 1");
    expect_logged(&f, "\"device\":\"cuda\"", REQUESTS / 2);
    expect_logged(&f, "\"device\":\"cpu\"", REQUESTS / KINDS / 2);
    stop(&f);
}

static void ignored_rows_are_counted(void **state)
{
    struct fixture f = start(NULL);
    struct answer a = fixture_json(&f, requests[KINDS - 1].op, requests[KINDS - 1].json);
    (void)state;
    assert_int_equal(a.status, 200);
    expect_part(&a, "\"ignored_indices\":1");
    answer_release(&a);
    stop(&f);
}

/* --------------------------------------------------------------------------------- large bodies */

enum { ROWS = 30000, WIDTH = 8, UPDATES = 2000 };

static float table[ROWS * WIDTH], updates[UPDATES * WIDTH];
static int32_t indices[UPDATES];

/* Too large to be decoded by the HTTP thread. Every update adds 1 to another row or to the same. */
static struct answer large(struct fixture *f, const char *more)
{
    const struct part parts[] = {
        {"tensor", "FP32", "[30000,8]", table, sizeof table},
        {"indices", "INT32", "[2000,1]", indices, sizeof indices},
        {"updates", "FP32", "[2000,8]", updates, sizeof updates},
    };
    struct body body;
    struct answer a;
    for (int k = 0; k < UPDATES; k++) {
        indices[k] = k % 1500;
        for (int j = 0; j < WIDTH; j++)
            updates[k * WIDTH + j] = 1;
    }
    assert_true(body_binary(&body, parts, 3, more));
    assert_true(client_binary(&f->client, "tensor_scatter_add", &body, &a));
    body_release(&body);
    return a;
}

#define BINARY_ON(DEVICE) ",'parameters':{'binary_data_output':true,'device':'" DEVICE "'}"

static void check_large(const struct answer *a)
{
    size_t size;
    assert_int_equal(a->status, 200);
    const char *tensors = answer_tensors(a, &size);
    assert_int_equal(size, sizeof table);
    for (int row = 0; row < ROWS; row++) {
        float found;
        memcpy(&found, tensors + (size_t)row * WIDTH * sizeof found, sizeof found);
        assert_true(found == (row < 500 ? 2.0f : row < 1500 ? 1.0f : 0.0f));
    }
}

static void large_bodies_are_passed_on_to_the_device(void **state)
{
    struct fixture f = start(NULL);
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct answer a = large(&f, BINARY_ON("cuda"));
        check_large(&a);
        answer_release(&a);
    }
    expect_logged(&f, "\"device\":\"cuda\"", 3);
    stop(&f);
}

/* Where `device` is cuda the bodies lie in pinned memory: the answer goes back into it. */
static void large_bodies_in_pinned_memory_are_answered_too(void **state)
{
    static const char *const only[] = {"--device=cuda", NULL};
    struct fixture f = start(only);
    (void)state;
    for (int round = 0; round < 2; round++) {
        struct answer a = large(&f, ",'parameters':{'binary_data_output':true}");
        check_large(&a);
        answer_release(&a);
    }
    expect_logged(&f, "\"device\":\"cuda\"", 2);
    stop(&f);
}

/* ------------------------------------------------------------------------------------ shortages */

static void a_job_over_the_device_s_memory_fails_alone(void **state)
{
    static const char *const little[] = {"--cuda_memory=1M", NULL};
    struct fixture f = start(little);
    struct answer a = large(&f, BINARY_ON("cuda"));
    (void)state;
    expect_error(&a, 503, "RESOURCE_EXHAUSTED", "bytes of memory on CUDA device 0");
    answer_release(&a);
    a = large(&f, BINARY_ON("auto"));
    assert_int_equal(a.status, 200);
    answer_release(&a);
    a = fixture_json(&f, requests[0].op, requests[0].json);
    assert_int_equal(a.status, 200);
    answer_release(&a);
    stop(&f);
}

static void a_failing_allocation_fails_its_job_alone(void **state)
{
    static const char *const much[] = {"--cuda_memory=1G", NULL};
    (void)state;
    must_be_interpreted();
    setenv("PTXEMU_MEM", "800000", 1);
    struct fixture f = start(much);
    unsetenv("PTXEMU_MEM");
    for (int round = 0; round < 2; round++) {
        struct answer a = large(&f, BINARY_ON("cuda"));
        expect_error(&a, 503, "RESOURCE_EXHAUSTED", "CUDA device 0: cudaMalloc: out of memory");
        answer_release(&a);
        a = fixture_json(&f, requests[0].op, requests[0].json);
        assert_int_equal(a.status, 200);
        answer_release(&a);
    }
    expect_call(&f, "/v2/health/ready", 200, "");
    expect_logged(&f, "\"device\":\"cuda\"", 4);
    stop(&f);
}

/* -------------------------------------------------------------------------------- a lost device */

/* Kernels of more instructions than this are ended as after an illegal access: the small ones of
 * the self-test and of small requests are not. */
#define FEW_INSTRUCTIONS "60000"

static void with_device_auto_a_lost_device_leaves_the_cpu(void **state)
{
    (void)state;
    must_be_interpreted();
    setenv("PTXEMU_MAXINS", FEW_INSTRUCTIONS, 1);
    struct fixture f = start(NULL);
    unsetenv("PTXEMU_MAXINS");
    struct answer a = fixture_json(&f, requests[0].op, requests[0].json);
    assert_int_equal(a.status, 200);
    answer_release(&a);
    a = large(&f, BINARY_ON("cuda"));
    expect_error(&a, 500, "INTERNAL", "CUDA device 0: ");
    answer_release(&a);

    a = fixture_json(&f, requests[0].op, requests[0].json);
    expect_error(&a, 400, "INVALID_PARAMETER", "this server has no CUDA device");
    answer_release(&a);
    a = large(&f, BINARY_ON("auto"));
    assert_int_equal(a.status, 200);
    answer_release(&a);
    expect_call(&f, "/v2/health/ready", 200, "");
    expect_call(&f, "/v2", 200, "\"devices\":[\"cpu\"]");
    expect_call(&f, "/metrics", 200, "tensord_backend_up{backend=\"cuda\"} 0");
    expect_logged(&f, "a CUDA device is lost", 1);
    stop(&f);
}

static void with_device_cuda_a_lost_device_ends_the_server(void **state)
{
    static const char *const only[] = {"--device=cuda", NULL};
    (void)state;
    must_be_interpreted();
    setenv("PTXEMU_MAXINS", FEW_INSTRUCTIONS, 1);
    struct fixture f = start(only);
    unsetenv("PTXEMU_MAXINS");
    struct answer a = large(&f, ",'parameters':{'binary_data_output':true}");
    expect_error(&a, 500, "INTERNAL", "CUDA device 0: ");
    answer_release(&a);
    client_release(&f.client);
    assert_int_equal(server_wait(&f.server), 1);
}

/* ---------------------------------------------------------------------------------------- drain */

struct last {
    struct mix mix;
    struct server *server;
    int heard;
    bool left[CLIENTS];
};

static bool ask_until_told(void *context, int member, struct call *call)
{
    struct last *l = context;
    l->mix.asked = 0;
    return !l->left[member] && ask(&l->mix, member, call);
}

static bool hear_and_end(void *context, int member, const struct answer *a)
{
    struct last *l = context;
    if (!hear(&l->mix, member, a))
        return false;
    if (++l->heard == BEFORE)
        server_terminate(l->server);
    const char *connection = answer_header(a, "Connection");
    l->left[member] = connection && strcmp(connection, "close") == 0;
    return true;
}

static void what_was_taken_is_answered_before_the_end(void **state)
{
    static const char *const slowly[] = {"--drain_delay=1s", "--drain_timeout=60s", NULL};
    struct fixture f = start(slowly);
    struct last l = {.server = &f.server};
    (void)state;
    mix_init(&l.mix);
    assert_true(crowd_run(&(struct crowd){.port = f.server.port,
                                          .members = CLIENTS,
                                          .context = &l,
                                          .ask = ask_until_told,
                                          .hear = hear_and_end}));
    assert_true(l.heard > BEFORE);
    mix_release(&l.mix);
    client_release(&f.client);
    assert_int_equal(server_wait(&f.server), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_jobs_run_on_two_streams_and_the_cpu),
        cmocka_unit_test(ignored_rows_are_counted),
        cmocka_unit_test(large_bodies_are_passed_on_to_the_device),
        cmocka_unit_test(large_bodies_in_pinned_memory_are_answered_too),
        cmocka_unit_test(a_job_over_the_device_s_memory_fails_alone),
        cmocka_unit_test(a_failing_allocation_fails_its_job_alone),
        cmocka_unit_test(with_device_auto_a_lost_device_leaves_the_cpu),
        cmocka_unit_test(with_device_cuda_a_lost_device_ends_the_server),
        cmocka_unit_test(what_was_taken_is_answered_before_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
