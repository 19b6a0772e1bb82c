/* bind: an infer job's references become places in lines, and in its turn the tensors that they
 * mean then. */
#ifndef SERVER_JOBS_BIND_H
#define SERVER_JOBS_BIND_H

#include "server/jobs/job.h"

/* What becomes of the result. */
enum result {
    RESULT_SENT,     /* in the answer */
    RESULT_IN_PLACE, /* written over the resident that it started from, while it is computed */
    RESULT_STAGED,   /* the same, once it is whole in memory of its own */
    RESULT_KEPT      /* a new resident */
};

/* The names that the request uses, before it enters. Errors: those of holds_join and holds_key,
 * INVALID_HEADER (a condition that is about no tensor), INVALID_PARAMETER (a name that had to stand
 * in the URL). */
MUST_CHECK enum error_code bind_names(struct job *job);

/* In the turn: the inputs that are references become views of their residents. Errors:
 * TENSOR_NOT_FOUND PRECONDITION_FAILED CONFLICT UNSUPPORTED_DTYPE SHAPE_MISMATCH SIZE_MISMATCH. */
MUST_CHECK enum error_code bind_inputs(struct job *job);

/* Of a planned job. `on_host`: the backend computes in the host's memory. */
enum result bind_result(const struct job *job, bool on_host);

/* Before the run: memory for a result that is kept, and all that the write needs. Errors:
 * INVALID_PARAMETER SIZE_MISMATCH (a region that is not the result's) TENSOR_MEMORY_FULL
 * RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code bind_memory(struct job *job, enum result result);

/* After the run: the result is where it belongs, and the references know their versions. */
void bind_commit(struct job *job, enum result result);

#endif
