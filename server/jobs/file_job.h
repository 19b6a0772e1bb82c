/* file_job: what a tensor_job does to the files of residents, where there is a folder of them, and
 * to the store as well. Each is called in the job's turn. */
#ifndef SERVER_JOBS_FILE_JOB_H
#define SERVER_JOBS_FILE_JOB_H

#include "kernels/error.h"
#include "proto/work.h"

struct job;

/* MOVE. Errors: RESOURCE_EXHAUSTED TENSOR_FILE_FAILED; then nothing has moved. */
MUST_CHECK enum error_code file_job_move(struct job *job);

/* DROP. Errors: TENSOR_FILE_FAILED; then it is still there. */
MUST_CHECK enum error_code file_job_drop(struct job *job);

/* EXPIRE: drops it if its lease is over by now. Errors: TENSOR_FILE_FAILED. */
MUST_CHECK enum error_code file_job_expire(struct job *job);

/* SNAPSHOT: whether there may be one. Errors: NOT_SUPPORTED (no folder), FORBIDDEN. */
MUST_CHECK enum error_code file_job_plan_snapshot(struct job *job);

/* Writes it, gives everything back, and answers. Errors: RESOURCE_EXHAUSTED TENSOR_FILE_FAILED
 * CONFLICT CANCELLED. */
MUST_CHECK enum error_code file_job_snapshot(struct job *job, const struct work *work);

#endif
