#include "server/access/quota.h"

#include "proto/number/digits.h"
#include "server/base/units.h"

#include <string.h>

bool limit_parse(struct limit *limit, const char *text)
{
    static const struct {
        const char *name;
        uint64_t factor, period_ns;
    } units[] = {
        {"/s", 1, SEC},         {"/m", 1, 60 * SEC}, {"/h", 1, HOUR},        {"K/s", KIB, SEC},
        {"K/m", KIB, 60 * SEC}, {"K/h", KIB, HOUR},  {"M/s", MIB, SEC},      {"M/m", MIB, 60 * SEC},
        {"M/h", MIB, HOUR},     {"G/s", GIB, SEC},   {"G/m", GIB, 60 * SEC}, {"G/h", GIB, HOUR},
    };
    uint64_t number;
    const char *unit = digits_read(text, UINT64_MAX, &number);
    for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0) {
            limit->period_ns = units[i].period_ns;
            return !__builtin_mul_overflow(number, units[i].factor, &limit->amount) &&
                   limit->amount > 0;
        }
    return false;
}

/* The longest wait and the longest debt; the sum of the two never wraps. */
static const uint64_t for_ever_ns = 100 * 366 * 24 * HOUR;

/* The time in which a bucket gets an amount back. */
static uint64_t time_of(const struct limit *limit, uint64_t amount)
{
    unsigned __int128 ns = (unsigned __int128)amount * limit->period_ns / limit->amount;
    return ns < for_ever_ns ? (uint64_t)ns : for_ever_ns;
}

/* The wait for one out of a bucket that will be full at `full`. */
static uint64_t wait_for_one(const struct limit *limit, uint64_t full, uint64_t now_ns)
{
    uint64_t then = full + time_of(limit, 1), latest = now_ns + limit->period_ns;
    return then > latest ? then - latest : 0;
}

static uint64_t later(uint64_t full, uint64_t now_ns, uint64_t cost_ns)
{
    uint64_t sum = (full > now_ns ? full : now_ns) + cost_ns, latest = now_ns + for_ever_ns;
    return sum < latest ? sum : latest;
}

uint64_t quota_wait(const struct quota *quota, const struct limit *limit, uint64_t now_ns)
{
    if (limit->amount == 0)
        return 0;
    return wait_for_one(limit, atomic_load_explicit(&quota->full_ns, memory_order_relaxed), now_ns);
}

uint64_t quota_take(struct quota *quota, const struct limit *limit, uint64_t now_ns)
{
    if (limit->amount == 0)
        return 0;
    uint64_t full = atomic_load_explicit(&quota->full_ns, memory_order_relaxed), wait;
    do
        wait = wait_for_one(limit, full, now_ns);
    while (wait == 0 && !atomic_compare_exchange_weak_explicit(
                            &quota->full_ns, &full, later(full, now_ns, time_of(limit, 1)),
                            memory_order_relaxed, memory_order_relaxed));
    return wait;
}

void quota_charge(struct quota *quota, const struct limit *limit, uint64_t amount, uint64_t now_ns)
{
    if (limit->amount == 0)
        return;
    uint64_t cost = time_of(limit, amount);
    uint64_t full = atomic_load_explicit(&quota->full_ns, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&quota->full_ns, &full, later(full, now_ns, cost),
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}
