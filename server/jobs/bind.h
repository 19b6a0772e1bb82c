/* bind: an infer job's references become places in lines, and in its turn the tensors that they
 * mean then. */
#ifndef SERVER_JOBS_BIND_H
#define SERVER_JOBS_BIND_H

#include "server/jobs/job.h"

/* The place of an operation's result. */
enum result {
    RESULT_SENT,     /* in the answer */
    RESULT_IN_PLACE, /* written over the resident that the operation starts from, while it is
                        computed */
    RESULT_STAGED,   /* written over that resident once it is whole, in memory of its own */
    RESULT_KEPT      /* a new resident */
};

/* Joins the names that the request uses, before it enters their lines. Errors: those of holds_join
 * and holds_key, INVALID_HEADER (a condition that is about no tensor), INVALID_PARAMETER (a name
 * that had to stand in the URL). */
MUST_CHECK enum error_code bind_names(struct job *job);

/* In the turn: the inputs that are references become views of their residents. Errors:
 * TENSOR_NOT_FOUND PRECONDITION_FAILED CONFLICT UNSUPPORTED_DTYPE SHAPE_MISMATCH SIZE_MISMATCH. */
MUST_CHECK enum error_code bind_inputs(struct job *job);

/* The place of a planned job's result. `on_host`: the backend computes in the host's memory. */
enum result bind_result(const struct job *job, bool on_host);

/* Before the run: memory for a result that is kept, and all that the write needs. Errors:
 * INVALID_PARAMETER SIZE_MISMATCH (a region that is not the result's) TENSOR_MEMORY_FULL
 * RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code bind_memory(struct job *job, enum result result);

/* After the run: puts the result where it belongs, and notes in the references which versions were
 * read and written. */
void bind_commit(struct job *job, enum result result);

#endif
