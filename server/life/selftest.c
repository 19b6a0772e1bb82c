#include "server/life/selftest.h"

#include "server/jobs/job.h"
#include "server/rules.h"

#include <string.h>

enum { HOME_BYTES = 60 * 1024 };

#define SCATTER  "\"tensor\":[[1,2],[3,4]],\"indices\":[[1],[0],[1]],\"updates\":[[1,2],[4,8],[2,2]]"
#define SEGMENTS "\"data\":[[1,2],[3,4],[5,6]],\"indices\":[2,0,1],\"segment_ids\":[0,0,2]"

/* An operation that is added to kernels/ gets a row here: the unit test counts. */
static const struct {
    const char *op, *inputs, *data;
} cases[] = {
    {"tensor_scatter_add", SCATTER, "[5.0,10.0,6.0,8.0]"},
    {"tensor_scatter_sub", SCATTER, "[-3.0,-6.0,0.0,0.0]"},
    {"tensor_scatter_update", SCATTER, "[4.0,8.0,2.0,2.0]"},
    {"tensor_scatter_mul", SCATTER, "[4.0,16.0,6.0,16.0]"},
    {"tensor_scatter_div", SCATTER, "[0.25,0.25,1.5,1.0]"},
    {"tensor_scatter_min", SCATTER, "[1.0,2.0,1.0,2.0]"},
    {"tensor_scatter_max", SCATTER, "[4.0,8.0,3.0,4.0]"},
    {"scatter_nd", "\"indices\":[[2],[0],[2]],\"updates\":[1,2,3],\"shape\":[4]",
     "[2.0,0.0,4.0,0.0]"},
    {"gather_nd", "\"params\":[[1,2],[3,4]],\"indices\":[[1],[0]]", "[3.0,4.0,1.0,2.0]"},
    {"sparse_segment_sum", SEGMENTS, "[6.0,8.0,0.0,0.0,3.0,4.0]"},
    {"sparse_segment_mean", SEGMENTS, "[3.0,4.0,0.0,0.0,3.0,4.0]"},
    {"sparse_segment_sqrt_n", "\"data\":[1,2,3,4],\"indices\":[0,1,2,3],\"segment_ids\":[0,0,0,0]",
     "[5.0]"},
};

static bool has_data(const struct response *response, const char *data)
{
    const char *found = memmem(response->data, response->size, "\"data\":", 7);
    size_t size = strlen(data);
    return found && (size_t)(response->data + response->size - found) >= 7 + size &&
           memcmp(found + 7, data, size) == 0;
}

static void prepare(struct job *job, const char *op, const char *inputs)
{
    size_t size = strlen(inputs) + 14;
    char *body = arena_get(&job->arena, ANSWER_HEAD_ROOM + size + 1);
    bool known = op_find(op, strlen(op), &job->op);
    struct error error;
    if (!body || !known || head_parse(&job->head, NULL, NULL, NULL, NULL, &error) != ERROR_NONE) {
        error_set(&job->error, ERROR_INTERNAL, NULL, "it is not known, or there is no memory");
        return;
    }
    snprintf(body + ANSWER_HEAD_ROOM, size + 1, "{\"inputs\":{%s}}", inputs);
    job_receive(job, body + ANSWER_HEAD_ROOM, strlen(body + ANSWER_HEAD_ROOM));
    job_decode(job, 1);
    if (job->decoded)
        job_plan(job, 1);
}

static enum error_code run_case(struct server *server, const struct backend *backend,
                                struct lane *lane, int i, struct error *error)
{
    struct block *home = blocks_get(&server->blocks, HOME_BYTES);
    if (!home)
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for the self-test");
    struct job job;
    job_init(&job, &server->blocks, &server->budget, home);
    job.rules = server_rules(server);
    job.timeout_ns = server->config.request_timeout;
    prepare(&job, cases[i].op, cases[i].inputs);
    if (job.planned)
        job_run(&job, backend, lane);
    if (job.error.code != ERROR_NONE)
        error_set(error, ERROR_INTERNAL, NULL, "self-test of %s on %s: %.300s", cases[i].op,
                  backend->name, job.error.message);
    else if (!has_data(&job.response, cases[i].data))
        error_set(error, ERROR_INTERNAL, NULL, "self-test of %s on %s: a wrong result", cases[i].op,
                  backend->name);
    arena_release(&job.arena);
    blocks_put(&server->blocks, home);
    return error->code;
}

enum error_code selftest(struct server *server, const struct backend *backend, int device,
                         size_t memory_bytes, struct error *error)
{
    struct lane *lane = backend->open(device, memory_bytes, error);
    if (!lane)
        return error->code;
    error_clear(error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases && error->code == ERROR_NONE; i++)
        if (run_case(server, backend, lane, (int)i, error) != ERROR_NONE)
            break;
    backend->close(lane);
    return error->code;
}

bool selftest_knows(const char *op)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].op, op) == 0)
            return true;
    return false;
}
