#include "server/life/selftest.h"

#include "proto/answer/example.h"
#include "server/jobs/job.h"
#include "server/rules.h"

#include <string.h>

enum { HOME_BYTES = 60 * 1024 };

static bool has_data(const struct response *response, const char *data)
{
    const char *found = memmem(response->data, response->size, "\"data\":", 7);
    size_t size = strlen(data);
    return found && (size_t)(response->data + response->size - found) >= 7 + size &&
           memcmp(found + 7, data, size) == 0;
}

static void prepare(struct job *job, const struct example *example)
{
    const char *parameters = example->parameters ? example->parameters : "{}";
    size_t size = strlen(example->inputs) + strlen(parameters) + 27;
    char *body = arena_get(&job->arena, ANSWER_HEAD_ROOM + size + 1);
    if (!body) {
        error_set(&job->error, ERROR_INTERNAL, NULL, "no memory for the request");
        return;
    }
    snprintf(body + ANSWER_HEAD_ROOM, size + 1, "{\"inputs\":{%s},\"parameters\":%s}",
             example->inputs, parameters);
    job_receive(job, body + ANSWER_HEAD_ROOM, strlen(body + ANSWER_HEAD_ROOM));
    job_decode(job, 1, false);
    if (job->decoded)
        job_plan(job);
}

static enum error_code open(struct job *job, const struct server *server,
                            const struct example *example)
{
    struct job_setup setup = {
        .rules = server_rules(server), .timeout_ns = server->config.request_timeout, .fd = -1};
    if (head_parse(&setup.head, NULL, NULL, NULL, NULL, &job->error) != ERROR_NONE)
        return job->error.code;
    if (!op_find(example->model, strlen(example->model), &setup.op))
        return error_set(&job->error, ERROR_INTERNAL, NULL, "it is not known");
    job_open(job, &setup);
    return ERROR_NONE;
}

/* Whether the job ended as the example says: the same data, or an error of that code. */
static void judge_example(const struct job *job, const struct example *example, const char *backend,
                          struct error *error)
{
    enum error_code code = job->error.code;
    if (code != ERROR_NONE && !(example->code && strcmp(example->code, error_name(code)) == 0))
        error_set(error, ERROR_INTERNAL, NULL, "self-test of %s on %s: %.300s", example->model,
                  backend, job->error.message);
    else if (code == ERROR_NONE && !(example->data && has_data(&job->response, example->data)))
        error_set(error, ERROR_INTERNAL, NULL, "self-test of %s on %s: a wrong result",
                  example->model, backend);
}

/* Whether the backend has a kernel for plans like this one, of every type that its operation
 * takes. */
static bool has_kernels(const struct plan *plan, const struct backend *backend, struct error *error)
{
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++) {
        struct kernel_key key = plan_kernel_key(plan, (enum dtype)d);
        if (!(plan->op->dtypes >> d & 1) || backend->has_kernel(&key))
            continue;
        error_set(error, ERROR_INTERNAL, NULL, "self-test of %s on %s: it has no kernel for %s",
                  plan->op->name, backend->name, dtype_name((enum dtype)d));
        return false;
    }
    return true;
}

static enum error_code run_example(struct server *server, const struct backend *backend,
                                   struct lane *lane, const struct example *example,
                                   struct error *error)
{
    struct block *home = blocks_get(&server->blocks, HOME_BYTES);
    if (!home)
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for the self-test");
    struct job job;
    job_init(&job, &server->blocks, &server->budget, home);
    if (open(&job, server, example) == ERROR_NONE)
        prepare(&job, example);
    /* Plans that a device cannot run, those of strings, go to the CPU. */
    bool elsewhere = job.planned && !backend->can_run(&job.plan);
    if (!elsewhere && (!job.planned || has_kernels(&job.plan, backend, error))) {
        if (job.planned)
            job_run(&job, backend, lane, 1);
        judge_example(&job, example, backend->name, error);
    }
    arena_release(&job.arena);
    blocks_put(&server->blocks, home);
    return error->code;
}

static bool has_example(const struct op *op)
{
    struct op_name name;
    for (int i = 0; i < example_count(); i++) {
        const struct example *e = example_at(i);
        if (e->data && op_find(e->model, strlen(e->model), &name) && name.op == op)
            return true;
    }
    return false;
}

enum error_code selftest(struct server *server, const struct backend *backend, int device,
                         size_t memory_bytes, struct error *error)
{
    struct lane *lane = backend->open(device, memory_bytes, error);
    if (!lane)
        return error->code;
    error_clear(error);
    for (int i = 0; i < op_count() && error->code == ERROR_NONE; i++)
        if (!has_example(op_at(i)))
            error_set(error, ERROR_INTERNAL, NULL, "self-test of %s: it has no example",
                      op_at(i)->name);
    for (int i = 0; i < example_count() && error->code == ERROR_NONE; i++)
        if (run_example(server, backend, lane, example_at(i), error) != ERROR_NONE)
            break;
    backend->close(lane);
    return error->code;
}
