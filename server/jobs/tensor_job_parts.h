/* tensor_job_parts: what the files of tensor_job share. Private to tensor_job*.c. */
#ifndef SERVER_JOBS_TENSOR_JOB_PARTS_H
#define SERVER_JOBS_TENSOR_JOB_PARTS_H

#include "server/jobs/tensor_job.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a resident's metadata as JSON, or of the JSON around its elements. */
enum { TENSOR_DESCRIPTION_MAX = 2048 };

/* Sets the rows that the call means where it names none. Errors: ROWS_OUT_OF_RANGE. */
MUST_CHECK enum error_code tensor_job_check_rows(struct job *job, const struct resident *resident);

/* The rows that the call means, as a view, and their bytes. */
void tensor_job_rows(const struct tensor_call *call, const struct resident *resident,
                     struct tensor *rows);
size_t tensor_job_read_bytes(const struct job *job, const struct resident *resident);

/* Whether the elements are answered as JSON. */
bool tensor_job_is_json(const struct job *job);

/* Says that there is no memory for an answer: RESOURCE_EXHAUSTED. */
enum error_code tensor_job_no_memory(struct job *job, size_t bytes);

/* Parts of tensor_job_plan and tensor_job_run, in the turn: a read is planned; it is answered; it
 * is answered 304, as the client has the tensor already; a write is done. */
MUST_CHECK enum error_code tensor_job_plan_read(struct job *job);
MUST_CHECK enum error_code tensor_job_read(struct job *job, const struct work *work);
MUST_CHECK enum error_code tensor_job_unchanged(struct job *job, const struct work *work);
MUST_CHECK enum error_code tensor_job_write(struct job *job);

#endif
