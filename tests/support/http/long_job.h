/* long_job: a request that keeps a worker busy for seconds, unless it is told to stop. */
#ifndef TESTS_SUPPORT_HTTP_LONG_JOB_H
#define TESTS_SUPPORT_HTTP_LONG_JOB_H

#include "kernels/error.h"
#include "tests/support/http/raw.h"

/* Sends it; its answer is a row of zeros. */
MUST_CHECK bool long_job_say(struct raw *r);

#endif
