#include "server/jobs/job.h"

#include "server/base/clock.h"
#include "server/base/units.h"

#include <assert.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>

enum { BYTES_PER_CORE = 1 << 20 };

void job_init(struct job *job, struct blocks *blocks, struct budget *budget, struct block *home)
{
    memset(job, 0, offsetof(struct job, error));
    error_clear(&job->error);
    arena_init(&job->arena, blocks, budget, home);
    job->fd = -1;
    job->gpu = GPU_UNKNOWN;
    atomic_store_explicit(&job->deadline_ns, UINT64_MAX, memory_order_relaxed);
}

void job_open(struct job *job, const struct job_setup *setup)
{
    assert(job->arena.reserved_bytes == 0);
    job->arena.share = setup->share;
    job->op = setup->op;
    job->head = setup->head;
    job->rules = setup->rules;
    job->timeout_ns = setup->timeout_ns;
    job->finish = setup->finish;
    job->fd = setup->fd;
}

static struct work work_of(struct job *job, int threads)
{
    return (struct work){.memory = &job->arena.memory,
                         .recall = job->recall,
                         .threads = threads,
                         .stop = &job->stop};
}

enum error_code job_draining(struct error *error)
{
    return error_set(error, ERROR_DRAINING, NULL,
                     "the server stops; send the request to another one");
}

/* A stage that was told to stop says CANCELLED; the job's error is why it was told so. */
static void explain_stop(struct job *job)
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
    job->times.received_ns = clock_ns();
    set_deadline(job);
}

static void shorten_timeout(struct job *job)
{
    uint64_t asked_us = job->request.timeout_us;
    if (asked_us == 0 || asked_us >= job->timeout_ns / 1000)
        return;
    job->timeout_ns = asked_us * 1000;
    set_deadline(job);
}

void job_decode(struct job *job, int threads)
{
    struct work work = work_of(job, threads);
    uint64_t start = clock_ns();
    enum error_code code = request_decode(&job->request, &job->op, &job->head, &job->rules, &work,
                                          job->body, job->body_size, &job->error);
    job->decoded = code == ERROR_NONE;
    if (job->decoded)
        shorten_timeout(job);
    explain_stop(job);
    job->times.parse_ns += clock_ns() - start;
}

void job_plan(struct job *job)
{
    struct plan_options options = {.output_limit = job->rules.output_limit,
                                   .ignore_bad = job->request.ignore_bad,
                                   .threads = 1,
                                   .stop = &job->stop};
    uint64_t start = clock_ns();
    job->planned =
        plan_make(&job->plan, &job->request.op, job->request.inputs, &options, &job->error) ==
            ERROR_NONE &&
        response_check(&job->request, &job->plan, &job->rules, &job->error) == ERROR_NONE;
    job->times.parse_ns += clock_ns() - start;
}

static size_t weight(const struct job *job)
{
    size_t sum;
    return __builtin_add_overflow(job->plan.touched_bytes,
                                  response_memory(&job->request, &job->plan), &sum)
               ? SIZE_MAX
               : sum;
}

bool job_is_light(const struct job *job, size_t bytes)
{
    return weight(job) <= bytes && job->plan.output_bytes <= bytes;
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

/* The output takes over its own input's bytes where the operation starts from a copy; else it gets
 * memory with room in front for the answer's header. */
static bool find_memory(struct job *job)
{
    struct plan *plan = &job->plan;
    int in_place = plan_in_place_input(plan);
    if (in_place >= 0) {
        plan->output.data = plan->inputs[in_place].data;
    } else {
        size_t need;
        char *memory = __builtin_add_overflow(plan->output_bytes, ANSWER_HEAD_ROOM, &need)
                           ? NULL
                           : arena_get(&job->arena, need);
        if (!memory)
            return false;
        plan->output.data = memory + ANSWER_HEAD_ROOM;
    }
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

void job_run(struct job *job, const struct backend *backend, struct lane *lane, int threads)
{
    struct work work = work_of(job, threads);
    uint64_t start = clock_ns(), computed = start;
    assert(job->planned);
    plan_use_threads(&job->plan, threads);
    job->device = backend->name;
    if (!find_memory(job))
        explain_no_memory(job);
    else if (backend->run(lane, &job->plan, &job->error) == ERROR_NONE) {
        computed = clock_ns();
        job->times.compute_ns = computed - start;
        if (response_encode(&job->response, &job->request, &job->plan, &work, &job->error) ==
            ERROR_NONE)
            job->times.encode_ns = clock_ns() - computed;
    }
    explain_stop(job);
}

static bool has_left(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return fd >= 0 && poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

enum error_code job_due(const struct job *job)
{
    if (clock_ns() >= atomic_load_explicit(&job->deadline_ns, memory_order_relaxed))
        return ERROR_DEADLINE_EXCEEDED;
    return has_left(job->fd) ? ERROR_CANCELLED : ERROR_NONE;
}

bool job_is_over(struct job *job)
{
    if (job->error.code != ERROR_NONE)
        return true;
    enum error_code why = job_due(job);
    if (why != ERROR_NONE)
        job_stop(job, why);
    if (!atomic_load_explicit(&job->stop, memory_order_acquire))
        return false;
    error_set(&job->error, ERROR_CANCELLED, NULL, "the client left");
    explain_stop(job);
    return true;
}

void job_stop(struct job *job, enum error_code why)
{
    enum error_code none = ERROR_NONE;
    if (atomic_compare_exchange_strong(&job->stopped_by, &none, why))
        atomic_store_explicit(&job->stop, true, memory_order_release);
}
