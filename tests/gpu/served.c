/* The server with a CUDA device, over HTTP: jobs on both devices at a time, bodies of all sizes,
 * and the end. */
#include "tests/support/http/crowd.h"
#include "tests/support/http/cuda_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 8, REQUESTS = 400, BEFORE = 100 };

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
    int kind = m->kinds[member] = m->asked % KINDS; /* as many of each, in whatever order */
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
    struct fixture f = cuda_server_start(NULL);
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
    cuda_server_stop(&f);
}

static void ignored_rows_are_counted(void **state)
{
    struct fixture f = cuda_server_start(NULL);
    struct answer a = fixture_json(&f, requests[KINDS - 1].op, requests[KINDS - 1].json);
    (void)state;
    assert_int_equal(a.status, 200);
    expect_part(&a, "\"ignored_indices\":1");
    answer_release(&a);
    cuda_server_stop(&f);
}

/* --------------------------------------------------------------------------------- large bodies */

static void large_bodies_are_passed_on_to_the_device(void **state)
{
    struct fixture f = cuda_server_start(NULL);
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct answer a = large_call(&f, BINARY_ON("cuda"));
        expect_large(&a);
        answer_release(&a);
    }
    expect_logged(&f, "\"device\":\"cuda\"", 3);
    cuda_server_stop(&f);
}

/* Where `device` is cuda the bodies lie in pinned memory: the answer goes back into it. */
static void large_bodies_in_pinned_memory_are_answered_too(void **state)
{
    static const char *const only[] = {"--device=cuda", NULL};
    struct fixture f = cuda_server_start(only);
    (void)state;
    for (int round = 0; round < 2; round++) {
        struct answer a = large_call(&f, BINARY);
        expect_large(&a);
        answer_release(&a);
    }
    expect_logged(&f, "\"device\":\"cuda\"", 2);
    cuda_server_stop(&f);
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
    struct fixture f = cuda_server_start(slowly);
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
        cmocka_unit_test(what_was_taken_is_answered_before_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
