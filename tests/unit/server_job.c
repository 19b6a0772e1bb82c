/* job, selftest: the way of one request without HTTP: in place, light or not, ended early. */
#include "server/jobs/job.h"

#include "server/base/clock.h"
#include "server/life/selftest.h"
#include "server/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct {
    struct server server;
    struct block *home;
    struct job job;
    struct lane *lane;
    struct error error;
} f;

static int set_up(void **state)
{
    (void)state;
    config_init(&f.server.config);
    blocks_init(&f.server.blocks, 64 * MIB);
    budget_init(&f.server.budget, 64 * MIB);
    f.home = blocks_get(&f.server.blocks, 60 * KIB);
    job_init(&f.job, &f.server.blocks, &f.server.budget, f.home);
    f.lane = backend_cpu.open(0, 0, &f.error);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    backend_cpu.close(f.lane);
    arena_release(&f.job.arena);
    blocks_put(&f.server.blocks, f.home);
    assert_int_equal(budget_used(&f.server.budget), 0);
    blocks_release(&f.server.blocks);
    return 0;
}

static void receive(const char *op, const char *body)
{
    size_t size = strlen(body);
    struct job_setup setup = {
        .rules = server_rules(&f.server), .timeout_ns = f.server.config.request_timeout, .fd = -1};
    assert_true(op_find(op, strlen(op), &setup.op));
    assert_int_equal(head_parse(&setup.head, NULL, NULL, NULL, NULL, &f.error), ERROR_NONE);
    job_open(&f.job, &setup);
    char *memory = arena_get(&f.job.arena, ANSWER_HEAD_ROOM + size);
    memcpy(memory + ANSWER_HEAD_ROOM, body, size);
    job_receive(&f.job, memory + ANSWER_HEAD_ROOM, size);
}

static const char add[] = "{\"inputs\":{\"tensor\":[1,2,3],\"indices\":[[1]],\"updates\":[5]}}";

static void a_request_becomes_an_answer_in_place(void **state)
{
    (void)state;
    receive("tensor_scatter_add", add);
    job_decode(&f.job, 1, false);
    assert_true(f.job.decoded);
    job_plan(&f.job);
    assert_true(f.job.planned);
    assert_true(job_is_light(&f.job, 64 * KIB));
    assert_false(job_is_light(&f.job, 8));
    job_run(&f.job, &backend_cpu, f.lane, 1);
    assert_int_equal(f.job.error.code, ERROR_NONE);
    assert_ptr_equal(f.job.plan.output.data, f.job.request.inputs[0].data);
    assert_non_null(memmem(f.job.response.data, f.job.response.size, "[1.0,7.0,3.0]", 13));
}

static void a_fault_ends_it(void **state)
{
    (void)state;
    receive("tensor_scatter_add", "{\"inputs\":");
    job_decode(&f.job, 1, false);
    assert_false(f.job.decoded);
    assert_int_equal(f.job.error.code, ERROR_INVALID_JSON);
    assert_true(job_is_over(&f.job));
}

static void a_result_without_memory_is_refused(void **state)
{
    char body[200];
    (void)state;
    snprintf(body, sizeof body, "{\"inputs\":{\"indices\":[[0]],\"updates\":[1],\"shape\":[%llu]}}",
             (unsigned long long)(64 * MIB / 4));
    receive("scatter_nd", body);
    f.job.rules.output_limit = 2 * GIB;
    job_decode(&f.job, 1, false);
    assert_true(f.job.decoded);
    f.job.request.answer = ENCODING_BINARY;
    job_plan(&f.job);
    assert_true(f.job.planned);
    assert_false(job_is_light(&f.job, MIB));
    assert_true(job_cores_worth(&f.job) > 1);
    job_run(&f.job, &backend_cpu, f.lane, 1);
    assert_int_equal(f.job.error.code, ERROR_RESOURCE_EXHAUSTED);
}

static enum error_code must_not_run(struct lane *lane, struct plan *plan, struct error *error)
{
    (void)lane, (void)plan, (void)error;
    fail_msg("a job without memory for its answer was computed");
    return ERROR_NONE;
}

/* The result fits, its text does not. */
static void an_answer_without_memory_is_refused_before_it_is_computed(void **state)
{
    struct backend backend = backend_cpu;
    (void)state;
    backend.run = must_not_run;
    receive("scatter_nd", "{\"inputs\":{\"indices\":[[0]],\"updates\":[1],\"shape\":[1048576]}}");
    job_decode(&f.job, 1, false);
    job_plan(&f.job);
    assert_true(f.job.planned);
    assert_true(budget_reserve(&f.server.budget, 56 * MIB, true));
    job_run(&f.job, &backend, f.lane, 1);
    assert_int_equal(f.job.error.code, ERROR_RESOURCE_EXHAUSTED);
    budget_give_back(&f.server.budget, 56 * MIB);
}

static void the_requests_timeout_shortens_the_deadline(void **state)
{
    (void)state;
    receive("tensor_scatter_add", "{\"inputs\":{\"tensor\":[1],\"indices\":[[0]],\"updates\":[5]},"
                                  "\"parameters\":{\"timeout\":1}}");
    assert_int_equal(job_due(&f.job), ERROR_NONE);
    job_decode(&f.job, 1, false);
    assert_true(f.job.decoded);
    while (clock_ns() < f.job.times.received_ns + 1000)
        continue;
    assert_int_equal(job_due(&f.job), ERROR_DEADLINE_EXCEEDED);
    assert_true(job_is_over(&f.job));
    assert_int_equal(f.job.error.code, ERROR_DEADLINE_EXCEEDED);
}

static void the_requests_timeout_lengthens_nothing(void **state)
{
    (void)state;
    receive("tensor_scatter_add", "{\"inputs\":{\"tensor\":[1],\"indices\":[[0]],\"updates\":[5]},"
                                  "\"parameters\":{\"timeout\":3600000000}}");
    uint64_t deadline = atomic_load(&f.job.deadline_ns);
    job_decode(&f.job, 1, false);
    assert_true(f.job.decoded);
    assert_int_equal(f.job.request.timeout_us, 3600000000);
    assert_int_equal(f.job.timeout_ns, f.server.config.request_timeout);
    assert_int_equal(atomic_load(&f.job.deadline_ns), deadline);
}

static void a_client_that_left_cancels(void **state)
{
    int ends[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    receive("tensor_scatter_add", add);
    f.job.fd = ends[0];
    assert_int_equal(write(ends[1], "pipelined", 9), 9);
    assert_false(job_is_over(&f.job));
    close(ends[1]);
    assert_int_equal(job_due(&f.job), ERROR_CANCELLED);
    assert_true(job_is_over(&f.job));
    assert_int_equal(f.job.error.code, ERROR_CANCELLED);
    close(ends[0]);
}

static void the_first_reason_to_stop_counts(void **state)
{
    (void)state;
    receive("tensor_scatter_add", add);
    job_stop(&f.job, ERROR_DRAINING);
    job_stop(&f.job, ERROR_CANCELLED);
    assert_true(job_is_over(&f.job));
    assert_int_equal(f.job.error.code, ERROR_DRAINING);
}

static void the_self_test_passes(void **state)
{
    (void)state;
    enum error_code code = selftest(&f.server, &backend_cpu, 0, 0, &f.error);
    if (code != ERROR_NONE)
        fail_msg("%s", f.error.message);
}

static bool no_max_of_halves(const struct kernel_key *key)
{
    return key->combine != COMBINE_MAX || key->dtype != DTYPE_BF16;
}

static bool runs_nothing(const struct plan *plan)
{
    (void)plan;
    return false;
}

static void what_a_backend_cannot_run_it_is_not_given(void **state)
{
    (void)state;
    struct backend incapable = backend_cpu;
    incapable.can_run = runs_nothing;
    incapable.run = NULL;
    assert_int_equal(selftest(&f.server, &incapable, 0, 0, &f.error), ERROR_NONE);
}

static void a_row_without_a_kernel_fails_the_self_test(void **state)
{
    (void)state;
    struct backend incomplete = backend_cpu;
    incomplete.has_kernel = no_max_of_halves;
    assert_int_equal(selftest(&f.server, &incomplete, 0, 0, &f.error), ERROR_INTERNAL);
    assert_string_equal(f.error.message,
                        "self-test of tensor_scatter_max on cpu: it has no kernel for BF16");
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_request_becomes_an_answer_in_place),
        TEST(a_fault_ends_it),
        TEST(a_result_without_memory_is_refused),
        TEST(an_answer_without_memory_is_refused_before_it_is_computed),
        TEST(the_requests_timeout_shortens_the_deadline),
        TEST(the_requests_timeout_lengthens_nothing),
        TEST(a_client_that_left_cancels),
        TEST(the_first_reason_to_stop_counts),
        TEST(the_self_test_passes),
        TEST(what_a_backend_cannot_run_it_is_not_given),
        TEST(a_row_without_a_kernel_fails_the_self_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
