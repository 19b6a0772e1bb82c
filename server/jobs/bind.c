#include "server/jobs/bind.h"

#include "server/base/clock.h"

#include <assert.h>
#include <string.h>

/* ---------------------------------------------------------------------------- before the turn */

static bool is_in_url(const struct job *job, const struct reference *reference)
{
    const struct head *head = &job->head;
    return (head->tensor && strcmp(head->tensor, reference->name) == 0) ||
           (head->into && strcmp(head->into, reference->name) == 0);
}

static enum error_code join(struct job *job, const struct reference *reference, bool writes,
                            int *place)
{
    if (!reference_is_set(reference))
        return ERROR_NONE;
    if (job->holds.setup.in_url && !is_in_url(job, reference))
        return error_set(&job->error, ERROR_INVALID_PARAMETER, NULL,
                         "the tensor '%s' is not named in the URL, by which a balancer finds it "
                         "(setting tensor_in_url): ?tensor= or ?into=",
                         reference->name);
    return holds_join(&job->holds, reference->name, writes, place, &job->error);
}

static enum error_code check_conditions(struct job *job)
{
    const struct holds *holds = &job->holds;
    if (!conditions_exist(&holds->setup.conditions) || holds->about != PLACE_NONE)
        return ERROR_NONE;
    return error_set(&job->error, ERROR_INVALID_HEADER, NULL,
                     "If-Match and If-None-Match are about the tensor of `into`, else of `tensor`; "
                     "the request names none");
}

enum error_code bind_names(struct job *job)
{
    const struct request *request = &job->request;
    struct holds *holds = &job->holds;
    int table = request_table(job->op.op);
    for (int i = 0; i < op_inputs(job->op.op); i++)
        if (join(job, &request->references[i], false, &holds->inputs[i]) != ERROR_NONE)
            return job->error.code;
    if (join(job, &request->into, true, &holds->into) != ERROR_NONE)
        return job->error.code;
    holds->about = holds->into != PLACE_NONE ? holds->into
                   : table >= 0              ? holds->inputs[table]
                                             : PLACE_NONE;
    holds->turn.is_use = true;
    if (check_conditions(job) != ERROR_NONE || holds->into == PLACE_NONE)
        return job->error.code;
    return holds_key(holds, job->op.name, request->text, request->text_size, &job->error);
}

/* -------------------------------------------------------------------------------- in the turn */

static enum error_code check_type(struct job *job, int input, const struct resident *resident)
{
    const struct reference *reference = &job->request.references[input];
    const struct tensor *said = &job->request.inputs[input];
    const char *name = job->op.op->inputs[input];
    enum dtype is = resident->tensor.dtype;
    if (reference->dtype_said && said->dtype != is)
        return error_set(&job->error, ERROR_UNSUPPORTED_DTYPE, name,
                         "%s is %s, but the tensor '%s' is %s", name, dtype_name(said->dtype),
                         reference->name, dtype_name(is));
    if (!reference->dtype_said && job->request.dtype_open && reference->met_dtype != is &&
        job->op.op->values >> input & 1)
        return error_set(&job->error, ERROR_CONFLICT, name,
                         "the tensor '%s' became %s after the request was read, whose values came "
                         "without a datatype; send it again",
                         reference->name, dtype_name(is));
    return ERROR_NONE;
}

static bool same_shape(const struct tensor *a, const struct tensor *b, int from)
{
    bool equal = a->rank == b->rank;
    for (int i = from; i < a->rank && equal; i++)
        equal = a->shape[i] == b->shape[i];
    return equal;
}

/* A shape that was said is the resident's, or that of the rows that its region has. */
static enum error_code check_shape(struct job *job, const struct reference *reference,
                                   const struct tensor *said, const struct resident *resident,
                                   const char *name)
{
    const struct tensor *t = &resident->tensor;
    char found[SHAPE_TEXT_MAX], is[SHAPE_TEXT_MAX];
    if (said->rank < 0 || same_shape(said, t, 0))
        return ERROR_NONE;
    if (reference->is_region && t->rank > 0 && same_shape(said, t, 1))
        return ERROR_NONE;
    return error_set(&job->error, ERROR_SHAPE_MISMATCH, name,
                     "%s has shape %s, but the tensor '%s' has %s", name,
                     shape_print(found, said->shape, said->rank), reference->name,
                     shape_print(is, t->shape, t->rank));
}

/* The region is whole rows of the resident: those that the shape has, from its offset. */
static enum error_code check_region(struct job *job, const struct reference *reference,
                                    const struct tensor *view, const struct resident *resident,
                                    const char *name)
{
    size_t bytes, row;
    const struct tensor *t = &resident->tensor;
    if (!reference->is_region)
        return ERROR_NONE;
    bool counted = tensor_bytes(view, &bytes);
    row = t->rank > 0 && t->shape[0] > 0 ? resident->bytes / (size_t)t->shape[0] : 0;
    if (counted && bytes <= resident->bytes &&
        reference->region_offset <= resident->bytes - bytes &&
        (row == 0 ? reference->region_offset == 0 : reference->region_offset % row == 0) &&
        (reference->region_bytes == 0 || reference->region_bytes >= bytes))
        return ERROR_NONE;
    return error_set(&job->error, ERROR_SIZE_MISMATCH, name,
                     "the region of %s, %zu bytes from byte %zu, is not whole rows of the tensor "
                     "'%s', which has %zu bytes",
                     name, reference->region_bytes, reference->region_offset, reference->name,
                     resident->bytes);
}

static enum error_code bind(struct job *job, int input)
{
    struct reference *reference = &job->request.references[input];
    struct tensor *view = &job->request.inputs[input];
    const char *name = job->op.op->inputs[input];
    const struct resident *resident;
    if (holds_find(&job->holds, job->holds.inputs[input], &resident, &job->error) != ERROR_NONE ||
        check_type(job, input, resident) != ERROR_NONE ||
        check_shape(job, reference, view, resident, name) != ERROR_NONE)
        return job->error.code;
    view->dtype = resident->tensor.dtype;
    if (view->rank < 0) {
        view->rank = resident->tensor.rank;
        memcpy(view->shape, resident->tensor.shape, sizeof view->shape);
    }
    if (check_region(job, reference, view, resident, name) != ERROR_NONE)
        return job->error.code;
    view->data = (char *)resident->tensor.data + reference->region_offset;
    reference->version = resident->version;
    if (job->holds.inputs[input] == job->holds.about)
        memcpy(reference->etag, job->holds.etag, sizeof reference->etag);
    else
        resident_etag(resident, reference->etag);
    return ERROR_NONE;
}

/* A condition about a resident that does not exist is false (412) before the resident is missing
 * (404). */
enum error_code bind_inputs(struct job *job)
{
    struct holds *holds = &job->holds;
    const struct resident *resident;
    bool has_match = holds->setup.conditions.match;
    for (int i = 0; i < op_inputs(job->op.op); i++)
        if (holds->inputs[i] != PLACE_NONE && !(has_match && holds->inputs[i] == holds->about) &&
            holds_find(holds, holds->inputs[i], &resident, &job->error) != ERROR_NONE)
            return job->error.code;
    if (holds->about != PLACE_NONE && holds_check(holds, &job->error) != ERROR_NONE)
        return job->error.code;
    if (holds->about != PLACE_NONE && turn_resident(&holds->turn, holds->about))
        resident_etag(turn_resident(&holds->turn, holds->about), holds->etag);
    for (int i = 0; i < op_inputs(job->op.op); i++)
        if (holds->inputs[i] != PLACE_NONE && bind(job, i) != ERROR_NONE)
            return job->error.code;
    return ERROR_NONE;
}

/* --------------------------------------------------------------------------------- the result */

/* Whether the op starts from a copy of the resident that it is to write. */
static bool updates_own_table(const struct job *job)
{
    int table = plan_in_place_input(&job->plan);
    return table >= 0 && job->holds.inputs[table] != PLACE_NONE &&
           job->holds.inputs[table] == job->holds.into;
}

static bool is_read_besides(const struct job *job, int place, int table)
{
    for (int i = 0; i < op_inputs(job->op.op); i++)
        if (i != table && job->holds.inputs[i] == place)
            return true;
    return false;
}

enum result bind_result(const struct job *job, bool on_host)
{
    if (job->holds.into == PLACE_NONE)
        return RESULT_SENT;
    if (!updates_own_table(job))
        return RESULT_KEPT;
    int table = plan_in_place_input(&job->plan);
    return on_host && !is_read_besides(job, job->holds.into, table) ? RESULT_IN_PLACE
                                                                    : RESULT_STAGED;
}

static enum error_code check_into_region(struct job *job, enum result result)
{
    const struct reference *into = &job->request.into;
    int table = plan_in_place_input(&job->plan);
    size_t offset = result == RESULT_KEPT ? 0 : job->request.references[table].region_offset;
    if (!into->is_region ||
        (into->region_offset == offset &&
         (into->region_bytes == 0 || into->region_bytes >= job->plan.output_bytes)))
        return ERROR_NONE;
    return error_set(&job->error, ERROR_SIZE_MISMATCH, NULL,
                     "the output's region is %zu bytes from byte %zu; the result has %zu bytes and "
                     "goes to byte %zu of the tensor '%s'",
                     into->region_bytes, into->region_offset, job->plan.output_bytes, offset,
                     into->name);
}

/* A replacement keeps the lease of what it replaces. */
static enum error_code make_resident(struct job *job)
{
    struct holds *holds = &job->holds;
    struct plan *plan = &job->plan;
    struct store *store = holds->setup.store;
    const struct resident *old = turn_resident(&holds->turn, holds->into);
    if (plan->output.dtype == DTYPE_BYTES)
        return error_set(&job->error, ERROR_UNSUPPORTED_DTYPE, NULL,
                         "the result is BYTES, which no tensor that is kept may be");
    holds->made = store_make(store, &holds->turn, holds->into, &plan->output, &holds->setup.holder,
                             &job->error);
    if (!holds->made)
        return job->error.code;
    holds->made->block = store_block(store, plan->output_bytes, &job->error);
    if (!holds->made->block)
        return job->error.code;
    holds->made->tensor.data = plan->output.data = holds->made->block->bytes;
    if (old)
        holds->made->ttl_ns = old->ttl_ns;
    return ERROR_NONE;
}

enum error_code bind_memory(struct job *job, enum result result)
{
    if (check_into_region(job, result) != ERROR_NONE)
        return job->error.code;
    if (result == RESULT_KEPT && make_resident(job) != ERROR_NONE)
        return job->error.code;
    return holds_prepare(&job->holds, &job->error);
}

void bind_commit(struct job *job, enum result result)
{
    struct holds *holds = &job->holds;
    struct plan *plan = &job->plan;
    struct reference *into = &job->request.into;
    if (result == RESULT_STAGED)
        memcpy((void *)(uintptr_t)plan->start->data, plan->output.data, plan->output_bytes);
    if (result == RESULT_KEPT)
        holds_install(holds);
    else
        store_wrote(holds->setup.store, &holds->turn, holds->into, &holds->setup.position,
                    clock_ns());
    const struct resident *resident = turn_resident(&holds->turn, holds->into);
    into->version = resident->version;
    resident_etag(resident, into->etag);
    strcpy(holds->etag, into->etag);
    holds_advance(holds);
}
