/* tensor_job: a job that stores, moves, reads or drops a resident tensor. Its stages are called by
 * job.c in place of those of a computation. */
#ifndef SERVER_JOBS_TENSOR_JOB_H
#define SERVER_JOBS_TENSOR_JOB_H

#include "proto/request/tensor_read.h"
#include "proto/text.h"
#include "server/tensors/store.h"
#include "server/tensors/store_view.h"

#include <stdbool.h>
#include <stdint.h>

/* LOOK does no more than wait until what there is of the name is known. EXPIRE is asked for by the
 * server itself: what has a file ends with it. */
enum verb {
    VERB_PUT,
    VERB_MOVE,
    VERB_ASSIGN,
    VERB_READ,
    VERB_LOOK,
    VERB_PATCH,
    VERB_DROP,
    VERB_SNAPSHOT,
    VERB_EXPIRE
};

/* The request: the caller fills it but for `tensor`. */
struct tensor_call {
    enum verb verb;
    char name[TENSOR_NAME_MAX + 1];
    char other[TENSOR_NAME_MAX + 1]; /* MOVE: whose resident takes the name */
    bool has_rows;
    int64_t from, to; /* rows, [from, to) */
    bool has_ttl;
    uint64_t ttl_ns; /* PUT; 0: no lease */
    uint64_t most_ttl_ns;
    enum tensor_body kind;
    struct tensor tensor; /* of the body; type and shape first of the URL, if it says them */
};

struct job;

/* Decodes the body: a tensor, or a patch. */
MUST_CHECK enum error_code tensor_job_decode(struct job *job, const struct work *work);

/* Joins the names that the job uses. Errors: those of holds_join and holds_key. */
MUST_CHECK enum error_code tensor_job_names(struct job *job);

/* In the turn: checks existence, conditions and rows. Errors: TENSOR_NOT_FOUND PRECONDITION_FAILED
 * ROWS_OUT_OF_RANGE SHAPE_MISMATCH UNSUPPORTED_DTYPE OUTPUT_TOO_LARGE. */
MUST_CHECK enum error_code tensor_job_plan(struct job *job);

/* Bytes that the job reads or writes besides the body that arrived. */
size_t tensor_job_weight(const struct job *job);

/* Whether the job changes the folder of tensors, and so waits for a disk. */
bool tensor_job_is_of_files(const struct job *job);

/* Does what was asked for, gives everything back, and answers. Errors: TENSOR_MEMORY_FULL
 * RESOURCE_EXHAUSTED TENSOR_FILE_FAILED CONFLICT CANCELLED. */
MUST_CHECK enum error_code tensor_job_run(struct job *job, const struct work *work);

/* The answer to a write that was applied before: the metadata of now. Errors:
 * RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code tensor_job_answer(struct job *job);

/* The metadata of a resident, the members of a JSON object without its braces: in GET's answer, and
 * in that of every write. */
void tensor_job_describe(struct text *text, const struct resident_view *view);

/* Reads a time to live of at most `most`. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code tensor_ttl_parse(uint64_t *ns, const char *text, uint64_t most,
                                            struct error *error);

#endif
