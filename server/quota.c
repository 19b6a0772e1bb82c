#include "server/quota.h"

#include "server/config_table.h"

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
    uint64_t number = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number))
            return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(text, units[i].name) == 0) {
            limit->period_ns = units[i].period_ns;
            return !__builtin_mul_overflow(number, units[i].factor, &limit->amount) &&
                   limit->amount > 0;
        }
    return false;
}

/* How long an amount takes to come back; a century is for ever. */
static uint64_t time_of(const struct limit *limit, uint64_t amount)
{
    const uint64_t ever = 100 * 366 * 24 * HOUR;
    unsigned __int128 ns = (unsigned __int128)amount * limit->period_ns / limit->amount;
    return ns < ever ? (uint64_t)ns : ever;
}

uint64_t quota_wait(const struct quota *quota, const struct limit *limit, uint64_t now_ns)
{
    if (limit->amount == 0)
        return 0;
    uint64_t full = atomic_load_explicit(&quota->full_ns, memory_order_relaxed);
    uint64_t then = full + time_of(limit, 1), latest = now_ns + limit->period_ns;
    return then > latest ? then - latest : 0;
}

void quota_charge(struct quota *quota, const struct limit *limit, uint64_t amount, uint64_t now_ns)
{
    if (limit->amount == 0)
        return;
    uint64_t cost = time_of(limit, amount), start;
    uint64_t full = atomic_load_explicit(&quota->full_ns, memory_order_relaxed);
    do
        start = full > now_ns ? full : now_ns;
    while (!atomic_compare_exchange_weak_explicit(&quota->full_ns, &full, start + cost,
                                                  memory_order_relaxed, memory_order_relaxed));
}
