/* queue: bounded, in order, large jobs only for those who may run them. */
#include "server/jobs/queue.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct queue queue;
static struct job *jobs;
static struct error error;

enum { JOBS = 8 };

static int set_up(void **state)
{
    (void)state;
    queue_init(&queue, 1000);
    jobs = calloc(JOBS, sizeof *jobs);
    for (int i = 0; i < JOBS; i++)
        jobs[i].body_size = 100;
    error_clear(&error);
    return jobs == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    queue_release(&queue);
    free(jobs);
    return 0;
}

static bool admit(size_t bytes, size_t most_jobs)
{
    return queue_admit(&queue, bytes, most_jobs, &error) == ERROR_NONE;
}

static bool has_room(size_t bytes, size_t most_jobs)
{
    return queue_check(&queue, bytes, most_jobs, &error) == ERROR_NONE;
}

static void put(int i, int kind)
{
    assert_true(admit(jobs[i].body_size, JOBS));
    queue_push(&queue, &jobs[i], kind);
}

static void a_job_belongs_to_its_device_else_to_who_may_use_as_many_cores(void **state)
{
    struct job *job = &jobs[0];
    (void)state;
    job->gpu = GPU_UNKNOWN;
    assert_int_equal(queue_kind_of_job(job), QUEUE_NARROW);
    job->body_size = 16 << 20;
    assert_int_equal(queue_kind_of_job(job), QUEUE_WIDE);
    job->gpu = 2;
    assert_int_equal(queue_kind_of_job(job), queue_kind_of_gpu(2));
    assert_true(queue_kind_of_gpu(GPUS_MAX - 1) < QUEUE_KINDS);
}

static void jobs_leave_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        put(i, QUEUE_NARROW);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(queue_take(&queue, QUEUE_NARROW), &jobs[i]);
    assert_int_equal(queue_load(&queue).jobs, 0);
}

static void it_is_bounded_in_jobs(void **state)
{
    (void)state;
    assert_true(admit(1, 2));
    assert_true(admit(1, 2));
    assert_false(has_room(1, 2));
    assert_false(admit(1, 2));
    assert_int_equal(error.code, ERROR_QUEUE_FULL);
    assert_non_null(strstr(error.message, "queue_jobs"));
    assert_true(has_room(1, 3));
    jobs[0].body_size = jobs[1].body_size = 1;
    queue_push(&queue, &jobs[0], QUEUE_NARROW);
    queue_push(&queue, &jobs[1], QUEUE_NARROW);
    queue_take(&queue, QUEUE_NARROW);
    assert_true(has_room(1, 2));
    queue_take(&queue, QUEUE_NARROW);
}

static void it_is_bounded_in_bytes(void **state)
{
    (void)state;
    jobs[0].body_size = 900;
    put(0, QUEUE_NARROW);
    assert_true(has_room(100, JOBS));
    assert_false(has_room(101, JOBS));
    assert_false(has_room(SIZE_MAX, JOBS));
    queue_take(&queue, QUEUE_NARROW);
}

static void a_job_beyond_the_bound_is_let_into_an_empty_queue(void **state)
{
    (void)state;
    jobs[0].body_size = 5000;
    put(0, QUEUE_NARROW);
    assert_false(has_room(1, JOBS));
    queue_take(&queue, QUEUE_NARROW);
    assert_int_equal(queue_load(&queue).bytes, 0);
}

static void narrow_workers_leave_wide_jobs(void **state)
{
    (void)state;
    put(0, QUEUE_WIDE);
    put(1, QUEUE_NARROW);
    put(2, QUEUE_NARROW);
    assert_ptr_equal(queue_take(&queue, QUEUE_NARROW), &jobs[1]);
    assert_ptr_equal(queue_take(&queue, QUEUE_WIDE), &jobs[0]);
    assert_ptr_equal(queue_take(&queue, QUEUE_WIDE), &jobs[2]);
}

static void wide_workers_take_the_oldest_of_both(void **state)
{
    (void)state;
    put(0, QUEUE_NARROW);
    put(1, QUEUE_WIDE);
    put(2, QUEUE_NARROW);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(queue_take(&queue, QUEUE_WIDE), &jobs[i]);
}

static void a_device_s_jobs_are_its_workers_alone(void **state)
{
    (void)state;
    assert_true(admit(jobs[0].body_size, JOBS));
    queue_push(&queue, &jobs[0], queue_kind_of_gpu(1));
    put(1, QUEUE_NARROW);
    assert_ptr_equal(queue_take(&queue, QUEUE_WIDE), &jobs[1]);
    assert_ptr_equal(queue_take(&queue, queue_kind_of_gpu(1)), &jobs[0]);
}

static void a_job_that_is_passed_on_is_not_refused(void **state)
{
    (void)state;
    put(0, QUEUE_NARROW);
    struct job *job = queue_take(&queue, QUEUE_NARROW);
    assert_true(admit(1000, 1));
    assert_true(queue_pass(&queue, job, queue_kind_of_gpu(0)));
    assert_int_equal(queue_load(&queue).jobs, 2);
    assert_ptr_equal(queue_take(&queue, queue_kind_of_gpu(0)), job);
    jobs[1].body_size = 1000;
    queue_push(&queue, &jobs[1], QUEUE_NARROW);
    assert_ptr_equal(queue_take(&queue, QUEUE_NARROW), &jobs[1]);
    queue_close(&queue);
    assert_false(queue_pass(&queue, job, queue_kind_of_gpu(0)));
    assert_int_equal(queue_load(&queue).jobs, 0);
}

static void *take_one(void *kind)
{
    return queue_take(&queue, (int)(uintptr_t)kind);
}

static void a_job_is_offered_only_to_who_waits(void **state)
{
    pthread_t wide;
    void *taken;
    (void)state;
    put(0, QUEUE_NARROW);
    struct job *job = queue_take(&queue, QUEUE_NARROW);
    job->times.queued_ns = 1;
    assert_false(queue_offer(&queue, job, QUEUE_WIDE));
    assert_int_equal(job->times.queued_ns, 1);
    assert_int_equal(queue_load(&queue).jobs, 0);
    pthread_create(&wide, NULL, take_one, (void *)(uintptr_t)QUEUE_WIDE);
    while (!queue_offer(&queue, job, QUEUE_WIDE))
        sched_yield();
    assert_false(queue_offer(&queue, &jobs[1], QUEUE_WIDE));
    pthread_join(wide, &taken);
    assert_ptr_equal(taken, job);
    assert_true(job->times.queued_ns > 1);
}

static bool is_third(struct job *job, void *context)
{
    return job == (struct job *)context + 2 || job == (struct job *)context + 3;
}

static void chosen_jobs_can_be_taken_out(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        put(i, i % 2 ? QUEUE_WIDE : QUEUE_NARROW);
    struct job *removed = queue_remove(&queue, is_third, jobs);
    assert_non_null(removed);
    assert_non_null(removed->next);
    assert_null(removed->next->next);
    assert_int_equal(queue_load(&queue).jobs, 2);
    assert_int_equal(queue_load(&queue).bytes, 200);
    put(4, QUEUE_NARROW);
    assert_ptr_equal(queue_take(&queue, QUEUE_NARROW), &jobs[0]);
    assert_ptr_equal(queue_take(&queue, QUEUE_NARROW), &jobs[4]);
    assert_ptr_equal(queue_take(&queue, QUEUE_WIDE), &jobs[1]);
}

static void a_closed_queue_empties_and_then_says_so(void **state)
{
    (void)state;
    put(0, QUEUE_NARROW);
    queue_close(&queue);
    assert_false(admit(1, JOBS));
    assert_int_equal(error.code, ERROR_DRAINING);
    assert_ptr_equal(queue_take(&queue, QUEUE_NARROW), &jobs[0]);
    assert_null(queue_take(&queue, QUEUE_NARROW));
    assert_null(queue_take(&queue, QUEUE_WIDE));
}

static void *take_all(void *kind)
{
    uintptr_t taken = 0;
    while (queue_take(&queue, (int)(uintptr_t)kind))
        taken++;
    return (void *)taken;
}

static void waiting_workers_get_every_job(void **state)
{
    pthread_t narrow, wide;
    void *by_narrow, *by_wide;
    (void)state;
    pthread_create(&narrow, NULL, take_all, (void *)(uintptr_t)QUEUE_NARROW);
    pthread_create(&wide, NULL, take_all, (void *)(uintptr_t)QUEUE_WIDE);
    for (int i = 0; i < JOBS; i++)
        put(i, i % 3 == 0 ? QUEUE_WIDE : QUEUE_NARROW);
    queue_close(&queue);
    pthread_join(narrow, &by_narrow);
    pthread_join(wide, &by_wide);
    assert_int_equal((uintptr_t)by_narrow + (uintptr_t)by_wide, JOBS);
    assert_true((uintptr_t)by_wide >= 3);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_job_belongs_to_its_device_else_to_who_may_use_as_many_cores),
        TEST(jobs_leave_in_order),
        TEST(it_is_bounded_in_jobs),
        TEST(it_is_bounded_in_bytes),
        TEST(a_job_beyond_the_bound_is_let_into_an_empty_queue),
        TEST(narrow_workers_leave_wide_jobs),
        TEST(wide_workers_take_the_oldest_of_both),
        TEST(a_device_s_jobs_are_its_workers_alone),
        TEST(a_job_that_is_passed_on_is_not_refused),
        TEST(a_job_is_offered_only_to_who_waits),
        TEST(chosen_jobs_can_be_taken_out),
        TEST(a_closed_queue_empties_and_then_says_so),
        TEST(waiting_workers_get_every_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
