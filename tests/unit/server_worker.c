/* worker: a job gets as many cores as its plan shows that it is worth, if a team has time for
 * it. */
#include "server/jobs/worker.h"

#include "server/rules.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { CORES = 4, JOBS = 2 };

/* A request whose text is small and whose output has 16 MiB. */
static const char large[] = "{\"inputs\":{\"indices\":[[0]],\"updates\":[1],\"shape\":[4194304]},"
                            "\"parameters\":{\"binary_data_output\":true}}";
static const char small[] = "{\"inputs\":{\"indices\":[[0]],\"updates\":[1],\"shape\":[4]}}";

static struct {
    struct server server;
    struct backend backend;
    struct workers workers;
    struct job jobs[JOBS];
    sem_t begun, may_end, done;
    int threads[JOBS]; /* of the runs, in the order in which they began */
    atomic_int runs;
} f;

static enum error_code run(struct lane *lane, struct plan *plan, struct error *error)
{
    (void)lane;
    (void)error;
    f.threads[atomic_fetch_add(&f.runs, 1)] = plan->options.threads;
    sem_post(&f.begun);
    sem_wait(&f.may_end);
    return ERROR_NONE;
}

static void finish(struct job *job)
{
    (void)job;
    sem_post(&f.done);
}

/* Returns when both workers wait: one with a team, one without. */
static int set_up(void **state)
{
    struct error error;
    (void)state;
    memset(&f, 0, sizeof f);
    sem_init(&f.begun, 0, 0);
    sem_init(&f.may_end, 0, 0);
    sem_init(&f.done, 0, 0);
    struct server *s = &f.server;
    config_init(&s->config);
    blocks_init(&s->blocks, 256 * MIB);
    budget_init(&s->budget, 256 * MIB);
    queue_init(&s->queue, MIB);
    cores_init(&s->cores, CORES);
    s->machine = (struct machine){.second_level_bytes = 1 << 20};
    f.backend = backend_cpu;
    f.backend.run = run;
    const struct workers_setup setup = {.count = 2,
                                        .wide = 1,
                                        .queue = &s->queue,
                                        .cores = &s->cores,
                                        .backend = &f.backend,
                                        .gpus = &s->gpus,
                                        .log = &s->log,
                                        .machine = &s->machine};
    if (gpus_init(&s->gpus, &s->config, NULL, &error) != ERROR_NONE ||
        workers_init(&f.workers, &setup, &error) != ERROR_NONE)
        return -1;
    for (int waiting = 0; waiting < 2; sched_yield()) {
        pthread_mutex_lock(&s->queue.lock);
        waiting = s->queue.kinds[QUEUE_NARROW].waiting + s->queue.kinds[QUEUE_WIDE].waiting;
        pthread_mutex_unlock(&s->queue.lock);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    queue_close(&f.server.queue);
    workers_release(&f.workers);
    for (int i = 0; i < atomic_load(&f.runs); i++) {
        arena_release(&f.jobs[i].arena);
        blocks_put(&f.server.blocks, f.jobs[i].arena.chain);
    }
    queue_release(&f.server.queue);
    assert_int_equal(budget_used(&f.server.budget), 0);
    blocks_release(&f.server.blocks);
    return 0;
}

/* As the HTTP threads do with a body that they have not looked into. */
static void push(int i, const char *body)
{
    struct job *job = &f.jobs[i];
    struct error error;
    size_t size = strlen(body);
    job_init(job, &f.server.blocks, &f.server.budget, blocks_get(&f.server.blocks, 60 * KIB));
    struct job_setup setup = {.rules = server_rules(&f.server),
                              .timeout_ns = f.server.config.request_timeout,
                              .finish = finish,
                              .fd = -1};
    assert_true(op_find("scatter_nd", strlen("scatter_nd"), &setup.op));
    assert_int_equal(head_parse(&setup.head, NULL, NULL, NULL, NULL, &error), ERROR_NONE);
    job_open(job, &setup);
    char *memory = arena_get(&job->arena, ANSWER_HEAD_ROOM + size);
    memcpy(memory + ANSWER_HEAD_ROOM, body, size);
    job_receive(job, memory + ANSWER_HEAD_ROOM, size);
    assert_int_equal(queue_admit(&f.server.queue, size, JOBS, &error), ERROR_NONE);
    queue_push(&f.server.queue, job, QUEUE_NARROW);
}

static void the_first_worker_has_measured_the_machine(void **state)
{
    (void)state;
    assert_true(f.server.machine.line_ns > 0);
    assert_true(f.server.machine.team_ns > 0);
}

static void a_large_job_goes_on_to_a_team_that_waits(void **state)
{
    (void)state;
    push(0, large);
    sem_wait(&f.begun);
    assert_int_equal(f.threads[0], CORES);
    sem_post(&f.may_end);
    sem_wait(&f.done);
    assert_int_equal(f.jobs[0].error.code, ERROR_NONE);
}

static void a_large_job_does_not_wait_for_a_team_that_is_busy(void **state)
{
    (void)state;
    push(0, large);
    sem_wait(&f.begun);
    push(1, large);
    sem_wait(&f.begun);
    assert_int_equal(f.threads[1], 1);
    for (int i = 0; i < 2; i++)
        sem_post(&f.may_end);
    for (int i = 0; i < 2; i++)
        sem_wait(&f.done);
}

static void a_small_job_stays_where_it_is(void **state)
{
    (void)state;
    push(0, small);
    sem_wait(&f.begun);
    assert_int_equal(f.threads[0], 1);
    sem_post(&f.may_end);
    sem_wait(&f.done);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_first_worker_has_measured_the_machine),
        TEST(a_large_job_goes_on_to_a_team_that_waits),
        TEST(a_large_job_does_not_wait_for_a_team_that_is_busy),
        TEST(a_small_job_stays_where_it_is),
    };
    return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
