/* What a planned job weighs, and its run. */
#include "server/jobs/bind.h"
#include "server/jobs/job_parts.h"

#include <assert.h>

enum { BYTES_PER_CORE = 1 << 20 };

static size_t weight(const struct job *job)
{
    size_t sum;
    if (job->is_answered)
        return 0;
    if (job->kind == JOB_TENSOR)
        return tensor_job_weight(job);
    return __builtin_add_overflow(job->plan.touched_bytes,
                                  response_memory(&job->request, &job->plan), &sum)
               ? SIZE_MAX
               : sum;
}

/* Bytes of new memory for the output. A job that writes into existing memory needs none: its rows
 * weigh in by themselves. */
static size_t output_weight(const struct job *job)
{
    if (job->is_answered || job->kind == JOB_TENSOR || bind_result(job, true) == RESULT_IN_PLACE)
        return 0;
    return job->plan.output_bytes;
}

bool job_is_light(const struct job *job, size_t bytes)
{
    return weight(job) <= bytes && output_weight(job) <= bytes;
}

/* Binary tensors are views: decoding them is no work. */
static size_t text_bytes(const struct job *job)
{
    return job->head.body == ENCODING_BINARY ? 0 : job->body_size;
}

int job_cores_worth(const struct job *job)
{
    size_t bytes = job->planned ? weight(job) : text_bytes(job);
    size_t cores = 1 + bytes / BYTES_PER_CORE;
    return cores < 1024 ? (int)cores : 1024;
}

static bool starts_from_own_memory(const struct job *job)
{
    int table = plan_in_place_input(&job->plan);
    return table >= 0 && job->holds.inputs[table] == PLACE_NONE;
}

/* Memory with room in front for the answer's header. */
static char *output_memory(struct job *job)
{
    size_t need;
    char *memory = __builtin_add_overflow(job->plan.output_bytes, ANSWER_HEAD_ROOM, &need)
                       ? NULL
                       : arena_get(&job->arena, need);
    return memory ? memory + ANSWER_HEAD_ROOM : NULL;
}

/* The output takes over its own input's bytes where the operation starts from a copy, unless that
 * input is a resident that is only read. */
static bool find_memory(struct job *job, enum result result)
{
    struct plan *plan = &job->plan;
    bool in_place =
        result == RESULT_IN_PLACE || (result == RESULT_SENT && starts_from_own_memory(job));
    if (in_place)
        plan->output.data = plan->inputs[plan_in_place_input(plan)].data;
    else if (result != RESULT_KEPT && !(plan->output.data = output_memory(job)))
        return false;
    plan->scratch = plan->scratch_bytes ? arena_get(&job->arena, plan->scratch_bytes) : NULL;
    return (plan->scratch || plan->scratch_bytes == 0) &&
           arena_reserve(&job->arena, response_memory(&job->request, plan));
}

static void explain_no_memory(struct job *job)
{
    const char *setting;
    size_t bytes = job->plan.output_bytes;
    const struct budget *bound = arena_bound(&job->arena, bytes, &setting);
    error_set(&job->error, ERROR_RESOURCE_EXHAUSTED, NULL,
              "the result needs %zu bytes; of the %zu that `%s` allows %zu are in use", bytes,
              bound->limit, setting, budget_used(bound));
}

/* A resident is written only by what cannot fail any more: the answer's memory is there, and
 * nothing stops the run. */
static enum error_code compute(struct job *job, const struct backend *backend, struct lane *lane,
                               enum result result)
{
    if (result != RESULT_SENT && bind_memory(job, result) != ERROR_NONE)
        return job->error.code;
    if (!find_memory(job, result)) {
        explain_no_memory(job);
        return job->error.code;
    }
    if (result == RESULT_IN_PLACE)
        job->plan.options.stop = NULL;
    enum error_code code = backend->run(lane, &job->plan, &job->error);
    if (code == ERROR_NONE && result != RESULT_SENT)
        bind_commit(job, result);
    return code;
}

static void encode(struct job *job, const struct work *work, enum result result)
{
    struct work uninterrupted = *work;
    if (result == RESULT_SENT)
        holds_release(&job->holds);
    else
        uninterrupted.stop = NULL;
    if (response_encode(&job->response, &job->request, &job->plan, &uninterrupted, &job->error) !=
        ERROR_NONE)
        return;
    job->times.encode_ns = job_end_stage(job);
    if (result == RESULT_SENT)
        return;
    if (holds_confirm(&job->holds, &job->error) != ERROR_NONE)
        return;
    holds_keep(&job->holds, job->status, job->response.data, job->response.size);
    holds_release(&job->holds);
}

static void run_infer(struct job *job, const struct backend *backend, struct lane *lane,
                      const struct work *work)
{
    enum result result = bind_result(job, backend == &backend_cpu);
    if (compute(job, backend, lane, result) != ERROR_NONE)
        return;
    job->times.compute_ns = job_end_stage(job);
    encode(job, work, result);
}

void job_run(struct job *job, const struct backend *backend, struct lane *lane, int threads)
{
    struct work work = job_work(job, threads);
    assert(job->planned);
    if (job->is_answered)
        return;
    if (job->kind == JOB_TENSOR) {
        if (tensor_job_run(job, &work) == ERROR_NONE)
            job->times.compute_ns = job_end_stage(job);
    } else {
        plan_use_threads(&job->plan, threads);
        job->device = backend->name;
        run_infer(job, backend, lane, &work);
    }
    job_explain_stop(job);
}
