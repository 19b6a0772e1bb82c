/* gauge: numbers that the server tells in /metrics. */
#ifndef TESTS_SUPPORT_HTTP_GAUGE_H
#define TESTS_SUPPORT_HTTP_GAUGE_H

#include "tests/support/http/fixture.h"

/* The value of a series, written as in the text: "tensord_queue_jobs" or
 * "tensord_requests_total{op=\"scatter_nd\",code=\"OK\"}". 0 where its metric has no such series
 * yet; fails the test when there is no such metric. */
double gauge(struct fixture *f, const char *series);

/* Waits until the series has that value, half a minute at most; fails the test when it never
 * has. */
void gauge_settle(struct fixture *f, const char *series, double value);

#endif
