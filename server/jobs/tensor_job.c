#include "server/jobs/tensor_job.h"

#include "server/config/value.h"
#include "server/jobs/file_job.h"
#include "server/jobs/job.h"
#include "server/jobs/tensor_job_parts.h"

#include <inttypes.h>

enum error_code tensor_ttl_parse(uint64_t *ns, const char *text, uint64_t most, struct error *error)
{
    if (config_time_parse(text, ns) && *ns > 0 && *ns <= most)
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "ttl is '%.40s', expected is a time such as 600s or 1h, more than 0 and at "
                     "most %llu s (setting tensor_ttl_max)",
                     text, (unsigned long long)(most / SEC));
}

static bool has_body(enum verb verb)
{
    return verb == VERB_PUT || verb == VERB_ASSIGN;
}

/* A snapshot needs the right to write, and reads. */
static bool writes(enum verb verb)
{
    return verb != VERB_READ && verb != VERB_LOOK && verb != VERB_SNAPSHOT;
}

enum error_code tensor_job_decode(struct job *job, const struct work *work)
{
    struct tensor_call *call = &job->call;
    struct span inner = {job->body, job->body_size};
    enum error_code code = ERROR_NONE;
    const char *ttl;
    if (has_body(call->verb))
        code = tensor_read(&call->tensor, call->kind, &job->head, &job->rules, work, &inner,
                           &job->error);
    if (call->verb == VERB_PATCH) {
        code = tensor_patch_read(&ttl, job->body, job->body_size, work, &job->error);
        if (code == ERROR_NONE && ttl)
            code = tensor_ttl_parse(&call->ttl_ns, ttl, call->most_ttl_ns, &job->error);
    }
    job->request.text = inner.data;
    job->request.text_size = inner.size;
    return code;
}

enum error_code tensor_job_names(struct job *job)
{
    struct holds *holds = &job->holds;
    const struct tensor_call *call = &job->call;
    int place;
    if (call->verb == VERB_SNAPSHOT &&
        holds_permit(&holds->setup, call->name, true, &job->error) != ERROR_NONE)
        return job->error.code;
    if (holds_join(holds, call->name, writes(call->verb), &place, &job->error) != ERROR_NONE)
        return job->error.code;
    holds->about = place;
    holds->into = writes(call->verb) ? place : PLACE_NONE;
    holds->turn.is_use = call->verb == VERB_READ;
    if (call->verb == VERB_MOVE &&
        holds_join(holds, call->other, true, &holds->inputs[0], &job->error) != ERROR_NONE)
        return job->error.code;
    if (holds->into == PLACE_NONE)
        return ERROR_NONE;
    return holds_key(holds, "", job->request.text, job->request.text_size, &job->error);
}

enum error_code tensor_job_check_rows(struct job *job, const struct resident *resident)
{
    struct tensor_call *call = &job->call;
    const struct tensor *t = &resident->tensor;
    if (!call->has_rows) {
        call->from = 0;
        call->to = t->rank > 0 ? t->shape[0] : 1;
        return ERROR_NONE;
    }
    if (t->rank > 0 && call->from >= 0 && call->from < call->to && call->to <= t->shape[0])
        return ERROR_NONE;
    return error_set(&job->error, ERROR_ROWS_OUT_OF_RANGE, NULL,
                     "rows %" PRId64 ":%" PRId64 " are not in the tensor '%s', which has %" PRId64
                     " rows",
                     call->from, call->to, call->name, t->rank > 0 ? t->shape[0] : 0);
}

static enum error_code check_assigned(struct job *job, const struct resident *resident)
{
    const struct tensor *given = &job->call.tensor;
    struct tensor rows;
    char found[SHAPE_TEXT_MAX], is[SHAPE_TEXT_MAX];
    tensor_job_rows(&job->call, resident, &rows);
    if (given->dtype != rows.dtype)
        return error_set(&job->error, ERROR_UNSUPPORTED_DTYPE, NULL,
                         "the rows are %s, but the tensor '%s' is %s", dtype_name(given->dtype),
                         job->call.name, dtype_name(rows.dtype));
    bool equal = given->rank == rows.rank;
    for (int i = 0; i < rows.rank && equal; i++)
        equal = given->shape[i] == rows.shape[i];
    if (equal)
        return ERROR_NONE;
    return error_set(&job->error, ERROR_SHAPE_MISMATCH, NULL,
                     "the rows have shape %s; rows %" PRId64 ":%" PRId64 " of the tensor '%s' have "
                     "%s",
                     shape_print(found, given->shape, given->rank), job->call.from, job->call.to,
                     job->call.name, shape_print(is, rows.shape, rows.rank));
}

enum error_code tensor_job_plan(struct job *job)
{
    struct holds *holds = &job->holds;
    const struct tensor_call *call = &job->call;
    const struct resident *resident = turn_resident(&holds->turn, holds->about);
    bool must_exist =
        call->verb != VERB_PUT && call->verb != VERB_MOVE && call->verb != VERB_EXPIRE;
    if (call->verb == VERB_READ)
        return tensor_job_plan_read(job);
    if (call->verb == VERB_LOOK)
        return ERROR_NONE;
    /* A condition about a resident that does not exist is false (412) before the resident is
     * missing (404). */
    bool is_conditional = holds->setup.conditions.match && !resident;
    if (must_exist && !is_conditional &&
        holds_find(holds, holds->about, &resident, &job->error) != ERROR_NONE)
        return job->error.code;
    if (holds_check(holds, &job->error) != ERROR_NONE)
        return job->error.code;
    if (call->verb == VERB_MOVE) {
        if (holds->inputs[0] == holds->about)
            return error_set(&job->error, ERROR_INVALID_PARAMETER, NULL,
                             "move is '%s', the tensor itself", call->other);
        return holds_find(holds, holds->inputs[0], &resident, &job->error);
    }
    if (call->verb == VERB_SNAPSHOT)
        return file_job_plan_snapshot(job);
    if (call->verb != VERB_ASSIGN)
        return ERROR_NONE;
    resident_etag(resident, holds->etag);
    return tensor_job_check_rows(job, resident) != ERROR_NONE ? job->error.code
                                                              : check_assigned(job, resident);
}

size_t tensor_job_weight(const struct job *job)
{
    const struct resident *resident = turn_resident(&job->holds.turn, job->holds.about);
    size_t bytes = 0;
    switch (job->call.verb) {
    case VERB_READ:
        if (!job->is_unchanged || tensor_job_is_json(job))
            bytes = tensor_job_read_bytes(job, resident);
        return tensor_job_is_json(job) && bytes < SIZE_MAX / 8 ? 8 * bytes : bytes;
    case VERB_PUT:
    case VERB_ASSIGN:
        return tensor_bytes(&job->call.tensor, &bytes) ? bytes : SIZE_MAX;
    case VERB_LOOK:
    case VERB_MOVE:
    case VERB_PATCH:
    case VERB_DROP:
    case VERB_SNAPSHOT:
    case VERB_EXPIRE:
        break;
    }
    return 0;
}

enum error_code tensor_job_run(struct job *job, const struct work *work)
{
    if (writes(job->call.verb))
        return tensor_job_write(job);
    if (job->call.verb == VERB_SNAPSHOT)
        return file_job_snapshot(job, work);
    if (job->call.verb == VERB_LOOK) {
        holds_release(&job->holds);
        return ERROR_NONE;
    }
    return job->is_unchanged ? tensor_job_unchanged(job, work) : tensor_job_read(job, work);
}
