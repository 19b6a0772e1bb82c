/* cores: granted as far as they are free, always at least one. */
#include "server/jobs/cores.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_job_gets_what_is_free_and_at_least_one(void **state)
{
    struct cores cores;
    (void)state;
    cores_init(&cores, 4);
    assert_int_equal(cores_take(&cores, 3), 3);
    assert_int_equal(cores_take(&cores, 3), 1);
    assert_int_equal(cores_take(&cores, 3), 1);
    assert_int_equal(cores.free, -1);
    cores_give_back(&cores, 3);
    assert_int_equal(cores_take(&cores, 8), 2);
}

static void *take_and_give(void *context)
{
    struct cores *cores = context;
    for (int i = 0; i < 10000; i++)
        cores_give_back(cores, cores_take(cores, 1 + i % 5));
    return NULL;
}

static void none_is_lost_between_threads(void **state)
{
    struct cores cores;
    pthread_t threads[4];
    (void)state;
    cores_init(&cores, 3);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, take_and_give, &cores);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(cores.free, 3);
}

static void the_machine_has_at_least_one(void **state)
{
    (void)state;
    assert_true(cores_of_machine() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_gets_what_is_free_and_at_least_one),
        cmocka_unit_test(none_is_lost_between_threads),
        cmocka_unit_test(the_machine_has_at_least_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
