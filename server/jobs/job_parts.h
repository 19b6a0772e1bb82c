/* job_parts: what the stages of a job share. Private to job*.c. */
#ifndef SERVER_JOBS_JOB_PARTS_H
#define SERVER_JOBS_JOB_PARTS_H

#include "proto/work.h"
#include "server/jobs/job.h"

/* Ends a stage; returns its time in nanoseconds. */
uint64_t job_end_stage(struct job *job);

/* The means of a stage. */
struct work job_work(struct job *job, int threads);

/* Called at the end of a stage: where it was stopped (CANCELLED), the job's error becomes the
 * reason why. */
void job_explain_stop(struct job *job);

#endif
