/* A job in its turn: it enters the lines of the residents that it names, and once it heads all of
 * them waits for what is in files only, and is planned, or answered as it was before. */
#include "server/base/clock.h"
#include "server/base/exhausted.h"
#include "server/jobs/bind.h"
#include "server/jobs/job_parts.h"

#include <string.h>

enum job_turn job_enter(struct job *job, bool may_wait)
{
    enum turn_state state;
    struct turn *turn = &job->holds.turn;
    if (turn->state == TURN_HELD && !store_step_back(job->holds.setup.store, turn, clock_ns()))
        return JOB_TURN_HELD;
    if (job->holds.turn.count == 0 &&
        (job->kind == JOB_TENSOR ? tensor_job_names(job) : bind_names(job)) != ERROR_NONE) {
        holds_release(&job->holds);
        return JOB_TURN_HELD;
    }
    if (job->holds.turn.count == 0)
        return JOB_TURN_HELD;
    if (holds_enter(&job->holds, may_wait, job->body_size, &state, &job->error) != ERROR_NONE)
        return JOB_TURN_HELD;
    return state == TURN_HELD      ? JOB_TURN_HELD
           : state == TURN_WAITING ? JOB_TURN_WAITS
                                   : JOB_TURN_BUSY;
}

bool job_needs_files(const struct job *job)
{
    const struct turn *turn = &job->holds.turn;
    return turn->state == TURN_HELD && !store_is_ready(job->holds.setup.store, turn);
}

static bool is_not_drained(void *context)
{
    struct job *job = context;
    return atomic_load_explicit(&job->stopped_by, memory_order_acquire) != ERROR_DRAINING;
}

void job_prepare(struct job *job)
{
    if (holds_prepare_files(&job->holds, is_not_drained, job, &job->error) == ERROR_CANCELLED)
        job_explain_stop(job);
}

static void plan_infer(struct job *job)
{
    bool reads_residents = job->holds.turn.count > 0;
    struct plan_options options = {.output_limit = job->rules.output_limit,
                                   .ignore_bad = job->request.ignore_bad,
                                   .threads = 1,
                                   .machine = job->machine,
                                   .stop = &job->stop};
    if (reads_residents && bind_inputs(job) != ERROR_NONE)
        return;
    if (job->unread.code != ERROR_NONE) {
        job->error = job->unread;
        return;
    }
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        if (job->holds.inputs[i] != PLACE_NONE && reads_residents)
            options.read_only |= 1u << i;
    job->planned =
        plan_make(&job->plan, &job->request.op, job->request.inputs, &options, &job->error) ==
            ERROR_NONE &&
        response_check(&job->request, &job->plan, &job->rules, &job->error) == ERROR_NONE;
}

/* Answers again what was answered under the key. */
static enum error_code replay_kept(struct job *job, const struct key *kept)
{
    char *answer = arena_get(&job->arena, kept->answer_size + 1);
    if (!answer)
        return error_no_memory(&job->error);
    memcpy(answer, kept->answer, kept->answer_size);
    strcpy(job->holds.etag, kept->etag);
    job->status = kept->status;
    job->response =
        (struct response){.data = answer,
                          .size = kept->answer_size,
                          .header_length = -1,
                          .content_type = kept->answer_size ? "application/json" : NULL};
    return ERROR_NONE;
}

/* Answers an update whose position was applied before: with the tensor's metadata of now. */
static enum error_code replay_passed(struct job *job)
{
    struct holds *holds = &job->holds;
    const struct resident *resident = turn_resident(&holds->turn, holds->into);
    struct reference *into = &job->request.into;
    struct work work = job_work(job, 1);
    resident_etag(resident, holds->etag);
    if (job->kind == JOB_TENSOR)
        return tensor_job_answer(job);
    into->version = resident->version;
    strcpy(into->etag, holds->etag);
    job->request.output_named = false;
    job->plan.ignored = 0;
    return response_encode(&job->response, &job->request, &job->plan, &work, &job->error);
}

static bool replay(struct job *job, const struct key *kept)
{
    enum error_code code = kept ? replay_kept(job, kept) : replay_passed(job);
    holds_release(&job->holds);
    job->is_answered = code == ERROR_NONE;
    return job->is_answered;
}

void job_plan(struct job *job)
{
    const struct turn *turn = &job->holds.turn;
    const struct key *kept = NULL;
    bool is_passed = false;
    if (turn->count > 0) {
        job->times.line_ns = turn->held_ns - turn->entered_ns;
        if (holds_replay(&job->holds, &kept, &is_passed, &job->error) != ERROR_NONE)
            return;
    }
    if (kept || is_passed)
        job->planned = replay(job, kept);
    else if (holds_may_write(&job->holds, &job->error) != ERROR_NONE)
        return;
    else if (job->kind == JOB_TENSOR)
        job->planned = tensor_job_plan(job) == ERROR_NONE;
    else
        plan_infer(job);
    job->times.parse_ns += job_end_stage(job);
}
