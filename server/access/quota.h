/* quota: how much of something may be used over time. A quota is a bucket of one period's amount
 * that fills up evenly. Use is charged when it is known, which may be afterwards: then the bucket
 * may go into debt, and nothing new is admitted until the debt is paid off. */
#ifndef SERVER_ACCESS_QUOTA_H
#define SERVER_ACCESS_QUOTA_H

#include "kernels/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* 100/s: amount 100, period a second. amount 0: unlimited. */
struct limit {
    uint64_t amount, period_ns;
};

struct quota {
    _Atomic uint64_t full_ns; /* when the bucket is full again, if nothing more is used */
};

/* "100/s", "10M/s", "5000/h": a number, K, M or G, a slash, and s, m or h. False when it is not. */
bool limit_parse(struct limit *limit, const char *text);

/* Nanoseconds until the bucket holds one; 0: it does already. */
uint64_t quota_wait(const struct quota *quota, const struct limit *limit, uint64_t now_ns);

/* Takes one from the bucket and returns 0, or returns the nanoseconds to wait. Threads may take at
 * the same time: together they get no more than the bucket holds. */
MUST_CHECK uint64_t quota_take(struct quota *quota, const struct limit *limit, uint64_t now_ns);

/* Takes `amount`, and goes into debt where the bucket holds less. */
void quota_charge(struct quota *quota, const struct limit *limit, uint64_t amount, uint64_t now_ns);

#endif
