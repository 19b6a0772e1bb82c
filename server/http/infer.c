#include "server/http/parts.h"

#include "server/base/clock.h"

#include <microhttpd.h>

/* A compressed body may become large: a worker finds out. */
static bool is_small(const struct job *job)
{
    return job->body_size <= BODY_SMALL_MAX && job->head.coding == CODING_IDENTITY;
}

/* true: the job is done, or has failed. */
static bool run_inline(struct exchange *x)
{
    struct job *job = &x->job;
    job->recall = x->daemon->recall;
    job_decode(job, 1);
    job->recall = NULL; /* it stays with this thread */
    if (!job->decoded)
        return true;
    job_plan(job, 1);
    if (!job->planned || job_is_over(job))
        return true;
    x->gpu = gpus_choose(&x->server->gpus, job);
    if (x->gpu >= 0 || !job_is_light(job, x->server->config.inline_bytes))
        return false;
    job_run(job, x->server->backend, x->daemon->lane);
    return true;
}

/* Called by the worker. After the resume the job is the HTTP thread's. */
static void hand_back(struct job *job)
{
    struct exchange *x = (struct exchange *)job;
    x->is_computed = true;
    MHD_resume_connection(x->connection);
}

static enum error_code admit(struct exchange *x)
{
    struct server *server = x->server;
    struct error *error = &x->job.error;
    if (queue_admit(&server->queue, x->job.body_size, server->config.queue_jobs))
        return ERROR_NONE;
    if (server->phase >= PHASE_STOPPING)
        return error_set(error, ERROR_DRAINING, NULL,
                         "the server stops; send the request to another one");
    return error_set(error, ERROR_QUEUE_FULL, NULL,
                     "the queue is full (limits queue_jobs and queue_bytes), try again");
}

bool http_infer(struct exchange *x)
{
    struct job *job = &x->job;
    x->gpu = -1;
    body_close(&x->body);
    job_receive(job, x->body.bytes, x->body.size);
    if ((is_small(job) && run_inline(x)) || admit(x) != ERROR_NONE)
        return true;
    job->finish = hand_back;
    job->fd = x->peer->fd;
    job->times.queued_ns = clock_ns();
    http_peer_enter(x->peer, PEER_WORKING, job->times.queued_ns);
    x->is_suspended = true;
    atomic_fetch_add(&x->daemon->http->suspended, 1);
    MHD_suspend_connection(x->connection);
    queue_push(&x->server->queue, job,
               x->gpu >= 0               ? QUEUE_CUDA + x->gpu
               : worker_job_is_wide(job) ? QUEUE_WIDE
                                         : QUEUE_NARROW);
    return false;
}

void http_resumed(struct exchange *x)
{
    if (!x->is_suspended)
        return;
    x->is_suspended = false;
    atomic_fetch_sub(&x->daemon->http->suspended, 1);
}
