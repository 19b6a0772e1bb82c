/* long_job: a request that keeps a worker busy for seconds, unless it is told to stop. */
#ifndef TESTS_SUPPORT_HTTP_LONG_JOB_H
#define TESTS_SUPPORT_HTTP_LONG_JOB_H

#include "kernels/error.h"
#include "tests/support/http/raw.h"

/* Sends the request; its answer is a row of zeros. */
MUST_CHECK bool long_job_say(struct raw *r);

/* Sends it with a query, such as "?into=a": it holds the line of that tensor, which becomes its
 * result, a row of zeros. */
MUST_CHECK bool long_job_say_with(struct raw *r, const char *query);

/* Sends it with the kept tensor `name`, one row of LONG_JOB_COLUMNS, as its data. */
MUST_CHECK bool long_job_read(struct raw *r, const char *name);

enum { LONG_JOB_COLUMNS = 1 << 18 }; /* of FP32, one row */

#endif
