#include "server/jobs/job.h"

#include "server/base/clock.h"
#include "server/base/units.h"
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

void job_decode(struct job *job, int threads, bool may_wait)
{
    struct work work = job_work(job, threads);
    job->holds.reads_files = may_wait;
    job->holds.misses_dtype = false;
    enum error_code code = job->kind == JOB_TENSOR
                               ? tensor_job_decode(job, &work)
                               : request_decode(&job->request, &job->op, &job->head, &job->rules,
                                                &work, job->body, job->body_size, &job->error);
    if (job->holds.misses_dtype) {
        error_clear(&job->error);
    } else if (code != ERROR_NONE && may_be_a_replay(job)) {
        job->unread = job->error;
        error_clear(&job->error);
    }
    job->decoded = job->error.code == ERROR_NONE && !job->holds.misses_dtype;
    if (job->decoded && job->kind == JOB_INFER)
        shorten_timeout(job);
    job_explain_stop(job);
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
