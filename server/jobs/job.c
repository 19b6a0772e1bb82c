#include "server/jobs/job.h"

#include "server/base/clock.h"
#include "server/base/units.h"
#include "server/jobs/bind.h"

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

static struct work work_of(struct job *job, int threads)
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
    enum error_code code = job->kind == JOB_TENSOR
                               ? tensor_job_decode(job, &work)
                               : request_decode(&job->request, &job->op, &job->head, &job->rules,
                                                &work, job->body, job->body_size, &job->error);
    job->decoded = code == ERROR_NONE;
    if (job->decoded && job->kind == JOB_INFER)
        shorten_timeout(job);
    explain_stop(job);
    job->times.parse_ns += clock_ns() - start;
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
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        if (job->holds.inputs[i] != PLACE_NONE && reads_residents)
            options.read_only |= 1u << i;
    job->planned =
        plan_make(&job->plan, &job->request.op, job->request.inputs, &options, &job->error) ==
            ERROR_NONE &&
        response_check(&job->request, &job->plan, &job->rules, &job->error) == ERROR_NONE;
}

/* What was answered under the key is answered again. */
static enum error_code replay_kept(struct job *job, const struct key *kept)
{
    char *answer = arena_get(&job->arena, kept->answer_size + 1);
    if (!answer)
        return error_set(&job->error, ERROR_RESOURCE_EXHAUSTED, NULL,
                         "the server has no memory left");
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

/* What was applied by its position: the answer says what there is by now. */
static enum error_code replay_passed(struct job *job)
{
    struct holds *holds = &job->holds;
    const struct resident *resident = turn_resident(&holds->turn, holds->into);
    struct reference *into = &job->request.into;
    struct work work = work_of(job, 1);
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
    uint64_t start = clock_ns();
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
    else if (job->kind == JOB_TENSOR)
        job->planned = tensor_job_plan(job) == ERROR_NONE;
    else
        plan_infer(job);
    job->times.parse_ns += clock_ns() - start;
}

void job_end(struct job *job)
{
    holds_release(&job->holds);
    job->finish(job);
}

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

/* What a job writes into memory that is there already weighs no more than its rows. */
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
    uint64_t start = clock_ns();
    if (result == RESULT_SENT)
        holds_release(&job->holds);
    else
        uninterrupted.stop = NULL;
    if (response_encode(&job->response, &job->request, &job->plan, &uninterrupted, &job->error) !=
        ERROR_NONE)
        return;
    job->times.encode_ns = clock_ns() - start;
    if (result == RESULT_SENT)
        return;
    holds_keep(&job->holds, job->status, job->response.data, job->response.size);
    holds_release(&job->holds);
}

static void run_infer(struct job *job, const struct backend *backend, struct lane *lane,
                      const struct work *work)
{
    uint64_t start = clock_ns();
    enum result result = bind_result(job, backend == &backend_cpu);
    if (compute(job, backend, lane, result) != ERROR_NONE)
        return;
    job->times.compute_ns = clock_ns() - start;
    encode(job, work, result);
}

void job_run(struct job *job, const struct backend *backend, struct lane *lane, int threads)
{
    struct work work = work_of(job, threads);
    uint64_t start = clock_ns();
    assert(job->planned);
    if (job->is_answered)
        return;
    if (job->kind == JOB_TENSOR) {
        if (tensor_job_run(job, &work) == ERROR_NONE)
            job->times.compute_ns = clock_ns() - start;
    } else {
        plan_use_threads(&job->plan, threads);
        job->device = backend->name;
        run_infer(job, backend, lane, &work);
    }
    explain_stop(job);
}

static bool has_left(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return fd >= 0 && poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static bool is_past_deadline(const struct job *job)
{
    return clock_ns() >= atomic_load_explicit(&job->deadline_ns, memory_order_relaxed);
}

enum error_code job_due(const struct job *job)
{
    if (is_past_deadline(job))
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
    explain_stop(job);
    return true;
}

bool job_is_over(struct job *job)
{
    return job->error.code != ERROR_NONE || end_if(job, job_due(job));
}

bool job_is_late(struct job *job)
{
    return job->error.code != ERROR_NONE ||
           end_if(job, is_past_deadline(job) ? ERROR_DEADLINE_EXCEEDED : ERROR_NONE);
}

void job_stop(struct job *job, enum error_code why)
{
    enum error_code none = ERROR_NONE;
    if (atomic_compare_exchange_strong(&job->stopped_by, &none, why))
        atomic_store_explicit(&job->stop, true, memory_order_release);
}
