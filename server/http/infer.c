#include "server/http/parts.h"

#include "server/base/clock.h"
#include "server/rules.h"

#include <microhttpd.h>
#include <stddef.h>

/* Called by the worker. After the resume the job is the HTTP thread's. */
static void hand_back(struct job *job)
{
    struct exchange *x = (struct exchange *)((char *)job - offsetof(struct exchange, job));
    x->is_computed = true;
    MHD_resume_connection(x->connection);
}

/* Called by whoever left the line that the job waited in. */
static void go_on(struct job *job)
{
    struct exchange *x = (struct exchange *)((char *)job - offsetof(struct exchange, job));
    queue_push(&x->server->queue, job, queue_kind_of_job(job));
}

/* The size of a plain body is known from its head; of others it is checked when they are
 * decoded. */
static enum error_code check_length(const struct exchange *x, const struct job_setup *setup,
                                    struct error *error)
{
    if (x->framing.length < 0 || setup->head.coding != CODING_IDENTITY)
        return ERROR_NONE;
    return request_check_sizes(&setup->head, &setup->rules, (size_t)x->framing.length, error);
}

static enum error_code open_body(struct exchange *x)
{
    struct job *job = &x->job;
    const struct request_rules *rules = &job->rules;
    bool is_json = job->head.body == ENCODING_JSON && job->head.coding == CODING_IDENTITY &&
                   rules->json_limit < rules->body_limit;
    return body_open(&x->body, &job->arena, x->framing.length, job->head.header_length,
                     is_json ? rules->json_limit : rules->body_limit,
                     is_json ? "max_json" : "max_body", &job->error);
}

static enum error_code open_computation(struct exchange *x, struct job_setup *setup)
{
    struct error *error = &x->job.error;
    setup->head.tensor = x->query.value[QUERY_TENSOR];
    setup->head.into = x->query.value[QUERY_INTO];
    if (setup->head.into &&
        holds_foresee(&x->job.holds, &setup->holds, setup->head.into, true, error) != ERROR_NONE)
        return error->code;
    if (check_length(x, setup, error) != ERROR_NONE)
        return error->code;
    job_open(&x->job, setup);
    return open_body(x);
}

enum error_code http_job_open(struct exchange *x)
{
    struct server *server = x->server;
    const char *const *value = x->headers.value;
    struct error *error = &x->job.error;
    struct job_setup setup = {.op = x->match.op_name,
                              .machine = &x->server->machine,
                              .rules = server_rules(server),
                              .timeout_ns = server->config.request_timeout,
                              .share = access_share(&server->access, &x->grant),
                              .finish = hand_back,
                              .come = go_on,
                              .fd = x->peer->fd};
    if (head_parse(&setup.head, value[HEADER_CONTENT_TYPE],
                   value[HEADER_INFERENCE_HEADER_CONTENT_LENGTH], value[HEADER_CONTENT_ENCODING],
                   value[HEADER_ACCEPT], error) != ERROR_NONE ||
        http_query_read(x) != ERROR_NONE || http_holds_setup(x, &setup.holds) != ERROR_NONE)
        return error->code;
    enum error_code code = x->match.route->kind == ROUTE_TENSOR ? http_tensor_open(x, &setup)
                                                                : open_computation(x, &setup);
    if (code != ERROR_NONE || x->framing.length <= BODY_SMALL_MAX)
        return code;
    /* A large body will need a place in the queue: better to say so before it is sent. */
    return queue_check(&server->queue, (size_t)x->framing.length, server->config.queue_jobs, error);
}

void http_look_open(struct exchange *x)
{
    struct server *server = x->server;
    struct tensor_call call = {.verb = VERB_LOOK};
    struct job_setup setup = {.rules = server_rules(server),
                              .timeout_ns = server->config.request_timeout,
                              .finish = hand_back,
                              .come = go_on,
                              .fd = x->peer->fd,
                              .call = &call};
    if (!x->match.segments[SEGMENT_TENSOR].text)
        return;
    route_tensor(&x->match, call.name);
    if (store_knows(&server->store, call.name))
        return;
    http_holds_of(x, &setup.holds);
    job_open(&x->job, &setup);
}

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
    job_decode(job, 1, false);
    job->recall = NULL; /* it stays with this thread */
    if (!job->decoded)
        return job->error.code != ERROR_NONE;
    if (job_enter(job, false) == JOB_TURN_BUSY)
        return false;
    if (job_needs_files(job))
        return false;
    if (job->error.code == ERROR_NONE)
        job_plan(job);
    if (!job->planned || job_is_late(job))
        return true;
    gpus_choose(&x->server->gpus, job);
    if (job->gpu >= 0 || tensor_job_is_of_files(job) ||
        !job_is_light(job, x->server->config.inline_bytes))
        return false;
    job_run(job, x->server->backend, x->daemon->lane, 1);
    return true;
}

/* From here on the job is the queue's, or waits in line with its place in the queue kept. */
static void hand_over(struct exchange *x)
{
    struct job *job = &x->job;
    http_peer_enter(x->peer, PEER_WORKING, clock_ns());
    x->is_suspended = true;
    atomic_fetch_add(&x->daemon->http->suspended, 1);
    MHD_suspend_connection(x->connection);
    if (job->decoded && !job->planned && job_enter(job, true) == JOB_TURN_WAITS)
        return;
    queue_push(&x->server->queue, job, queue_kind_of_job(job));
}

bool http_infer(struct exchange *x)
{
    struct job *job = &x->job;
    body_close(&x->body);
    job_receive(job, x->body.bytes, x->body.size);
    if ((is_small(job) && run_inline(x)) ||
        queue_admit(&x->server->queue, job->body_size, x->server->config.queue_jobs, &job->error) !=
            ERROR_NONE) {
        holds_release(&job->holds);
        return true;
    }
    hand_over(x);
    return false;
}

void http_resumed(struct exchange *x)
{
    if (!x->is_suspended)
        return;
    x->is_suspended = false;
    atomic_fetch_sub(&x->daemon->http->suspended, 1);
}
