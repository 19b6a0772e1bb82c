#include "server/jobs/job.h"

#include "server/base/clock.h"
#include "server/base/exhausted.h"
#include "server/base/units.h"
#include "server/jobs/bind.h"
#include "server/jobs/job_parts.h"

#include <assert.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>

void job_init(struct job *job, struct blocks *blocks, struct budget *budget, struct block *home)
{
    memset(job, 0, offsetof(struct job, error));
    error_clear(&job->error);
    error_clear(&job->unread);
    arena_init(&job->arena, blocks, budget, home);
    job->fd = -1;
    job->gpu = GPU_UNKNOWN;
    atomic_store_explicit(&job->deadline_ns, UINT64_MAX, memory_order_relaxed);
}

struct job *job_of_turn(struct turn *turn)
{
    return (struct job *)((char *)turn - offsetof(struct job, holds.turn));
}

static void turn_came(struct turn *turn)
{
    struct job *job = job_of_turn(turn);
    job->come(job);
}

void job_open(struct job *job, const struct job_setup *setup)
{
    assert(job->arena.reserved_bytes == 0);
    job->arena.share = setup->share;
    job->op = setup->op;
    job->machine = setup->machine;
    job->head = setup->head;
    job->rules = setup->rules;
    job->timeout_ns = setup->timeout_ns;
    job->finish = setup->finish;
    job->fd = setup->fd;
    job->come = setup->come;
    job->status = 200;
    holds_open(&job->holds, &setup->holds);
    job->holds.turn.ready = turn_came;
    if (!setup->call)
        return;
    job->kind = JOB_TENSOR;
    job->call = *setup->call;
    job->gpu = GPU_NONE;
}

struct work job_work(struct job *job, int threads)
{
    return (struct work){.memory = &job->arena.memory,
                         .recall = job->recall,
                         .directory = job->holds.setup.store ? &job->holds.directory : NULL,
                         .threads = threads,
                         .stop = &job->stop};
}

enum error_code job_draining(struct error *error)
{
    return error_set(error, ERROR_DRAINING, NULL,
                     "the server stops; send the request to another one");
}

void job_explain_stop(struct job *job)
{
    if (job->error.code != ERROR_CANCELLED)
        return;
    enum error_code why = atomic_load_explicit(&job->stopped_by, memory_order_acquire);
    if (why == ERROR_DEADLINE_EXCEEDED)
        error_set(&job->error, why, NULL, "the request took longer than its timeout of %g ms",
                  (double)job->timeout_ns / (double)MSEC);
    else if (why == ERROR_DRAINING)
        job_draining(&job->error);
}

static void set_deadline(struct job *job)
{
    atomic_store_explicit(&job->deadline_ns, job->times.received_ns + job->timeout_ns,
                          memory_order_relaxed);
}

void job_receive(struct job *job, char *body, size_t size)
{
    job->body = body;
    job->body_size = size;
    job->times.received_ns = job->times.stage_ns = clock_ns();
    set_deadline(job);
}

void job_leave_queue(struct job *job)
{
    job->times.stage_ns = clock_ns();
    job->times.queue_ns += job->times.stage_ns - job->times.queued_ns;
}

uint64_t job_end_stage(struct job *job)
{
    uint64_t began = job->times.stage_ns;
    job->times.stage_ns = clock_ns();
    return job->times.stage_ns - began;
}

static void shorten_timeout(struct job *job)
{
    uint64_t asked_us = job->request.timeout_us;
    if (asked_us == 0 || asked_us >= job->timeout_ns / 1000)
        return;
    job->timeout_ns = asked_us * 1000;
    set_deadline(job);
}

/* Values without a datatype have a tensor's, which may have been another when the same request was
 * applied: under a key or a position, whether they are wrong is told after the replay. */
static bool may_be_a_replay(const struct job *job)
{
    const struct holds_setup *setup = &job->holds.setup;
    enum error_code code = job->error.code;
    return job->kind == JOB_INFER && job->request.dtype_open &&
           reference_is_set(&job->request.into) && (setup->key || *setup->position.source) &&
           code != ERROR_CANCELLED && code != ERROR_RESOURCE_EXHAUSTED;
}

void job_decode(struct job *job, int threads)
{
    struct work work = job_work(job, threads);
    enum error_code code = job->kind == JOB_TENSOR
                               ? tensor_job_decode(job, &work)
                               : request_decode(&job->request, &job->op, &job->head, &job->rules,
                                                &work, job->body, job->body_size, &job->error);
    if (code != ERROR_NONE && may_be_a_replay(job)) {
        job->unread = job->error;
        error_clear(&job->error);
    }
    job->decoded = job->error.code == ERROR_NONE;
    if (job->decoded && job->kind == JOB_INFER)
        shorten_timeout(job);
    job_explain_stop(job);
    job->times.parse_ns += job_end_stage(job);
}

enum job_turn job_enter(struct job *job, bool may_wait)
{
    enum turn_state state;
    if (job->holds.turn.state == TURN_HELD)
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

void job_end(struct job *job)
{
    holds_release(&job->holds);
    job->finish(job);
}

static bool has_left(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return fd >= 0 && poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static bool is_past_deadline(const struct job *job, uint64_t now_ns)
{
    return now_ns >= atomic_load_explicit(&job->deadline_ns, memory_order_relaxed);
}

enum error_code job_due(const struct job *job)
{
    if (is_past_deadline(job, clock_ns()))
        return ERROR_DEADLINE_EXCEEDED;
    return has_left(job->fd) ? ERROR_CANCELLED : ERROR_NONE;
}

static bool end_if(struct job *job, enum error_code why)
{
    if (why != ERROR_NONE)
        job_stop(job, why);
    if (!atomic_load_explicit(&job->stop, memory_order_acquire))
        return false;
    error_set(&job->error, ERROR_CANCELLED, NULL, "the client left");
    job_explain_stop(job);
    return true;
}

bool job_is_over(struct job *job)
{
    return job->error.code != ERROR_NONE || end_if(job, job_due(job));
}

bool job_is_late(struct job *job)
{
    return job->error.code != ERROR_NONE ||
           end_if(job, is_past_deadline(job, job->times.stage_ns) ? ERROR_DEADLINE_EXCEEDED
                                                                  : ERROR_NONE);
}

void job_stop(struct job *job, enum error_code why)
{
    enum error_code none = ERROR_NONE;
    if (atomic_compare_exchange_strong(&job->stopped_by, &none, why))
        atomic_store_explicit(&job->stop, true, memory_order_release);
}
