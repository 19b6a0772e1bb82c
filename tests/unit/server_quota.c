/* quota: a bucket that fills evenly, may go into debt, and says when to come again. */
#include "server/access/quota.h"
#include "server/base/units.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void limits_are_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t amount, period_ns;
    } rows[] = {
        {"100/s", 100, SEC},      {"1/m", 1, 60 * SEC},    {"5000/h", 5000, HOUR},
        {"10M/s", 10 * MIB, SEC}, {"3K/h", 3 * KIB, HOUR}, {"1G/m", GIB, 60 * SEC},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct limit limit;
        assert_true(limit_parse(&limit, rows[i].text));
        assert_int_equal(limit.amount, rows[i].amount);
        assert_int_equal(limit.period_ns, rows[i].period_ns);
    }
}

static void what_is_no_limit_is_refused(void **state)
{
    static const char *const texts[] = {"",
                                        "/s",
                                        "100",
                                        "100/",
                                        "100/d",
                                        "0/s",
                                        "-1/s",
                                        "1.5/s",
                                        "100 /s",
                                        "100/s ",
                                        "1k/s",
                                        "1T/s",
                                        "1M",
                                        "M/s",
                                        "99999999999999999999/s",
                                        "18446744073709551615G/s"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct limit limit = {0, 0};
        if (limit_parse(&limit, texts[i]))
            fail_msg("'%s' was taken", texts[i]);
    }
}

static void a_period_has_its_amount_and_then_fills_evenly(void **state)
{
    const struct limit limit = {4, SEC};
    struct quota quota = {0};
    uint64_t now = HOUR;
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(quota_wait(&quota, &limit, now), 0);
        assert_int_equal(quota_take(&quota, &limit, now), 0);
    }
    assert_int_equal(quota_wait(&quota, &limit, now), SEC / 4);
    assert_int_equal(quota_take(&quota, &limit, now), SEC / 4);
    assert_int_equal(quota_wait(&quota, &limit, now + SEC / 4 - 1), 1);
    assert_int_equal(quota_wait(&quota, &limit, now + SEC / 4), 0);
    quota_charge(&quota, &limit, 1, now + SEC / 4);
    assert_int_equal(quota_wait(&quota, &limit, now + SEC / 4), SEC / 4);
}

static void a_pause_never_saves_more_than_a_period(void **state)
{
    const struct limit limit = {2, SEC};
    struct quota quota = {0};
    (void)state;
    for (int i = 0; i < 2; i++)
        quota_charge(&quota, &limit, 1, HOUR);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(quota_wait(&quota, &limit, 2 * HOUR), 0);
        quota_charge(&quota, &limit, 1, 2 * HOUR);
    }
    assert_true(quota_wait(&quota, &limit, 2 * HOUR) > 0);
}

static void debt_is_paid_off_first(void **state)
{
    const struct limit limit = {1000, SEC};
    struct quota quota = {0};
    (void)state;
    quota_charge(&quota, &limit, 10000, HOUR);
    assert_int_equal(quota_wait(&quota, &limit, HOUR), 9 * SEC + SEC / 1000);
    assert_int_equal(quota_wait(&quota, &limit, HOUR + 9 * SEC + SEC / 1000), 0);
}

static void a_debt_without_end_does_not_wrap(void **state)
{
    const struct limit limit = {1, HOUR};
    struct quota quota = {0};
    (void)state;
    for (int i = 0; i < 20; i++)
        quota_charge(&quota, &limit, UINT64_MAX, HOUR);
    assert_true(quota_wait(&quota, &limit, HOUR) > 50 * 365 * 24 * HOUR);
}

enum { THREADS = 4, TRIES = 2000 };

struct crowd {
    struct quota quota;
    atomic_int taken;
};

static void *take_many(void *context)
{
    const struct limit limit = {TRIES, HOUR};
    struct crowd *crowd = context;
    for (int i = 0; i < TRIES; i++)
        if (quota_take(&crowd->quota, &limit, HOUR) == 0)
            atomic_fetch_add(&crowd->taken, 1);
    return NULL;
}

static void threads_together_take_no_more_than_there_is(void **state)
{
    struct crowd crowd = {.taken = 0};
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_many, &crowd), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(crowd.taken, TRIES);
}

static void no_limit_never_waits(void **state)
{
    const struct limit limit = {0, 0};
    struct quota quota = {0};
    (void)state;
    quota_charge(&quota, &limit, UINT64_MAX, HOUR);
    assert_int_equal(quota_wait(&quota, &limit, HOUR), 0);
    assert_int_equal(quota_take(&quota, &limit, HOUR), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_read),
        cmocka_unit_test(what_is_no_limit_is_refused),
        cmocka_unit_test(a_period_has_its_amount_and_then_fills_evenly),
        cmocka_unit_test(a_pause_never_saves_more_than_a_period),
        cmocka_unit_test(debt_is_paid_off_first),
        cmocka_unit_test(a_debt_without_end_does_not_wrap),
        cmocka_unit_test(threads_together_take_no_more_than_there_is),
        cmocka_unit_test(no_limit_never_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
