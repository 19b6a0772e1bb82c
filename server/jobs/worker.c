#include "server/jobs/worker.h"

#include "kernels/team.h"

#include <stdlib.h>

/* How many cores the worker may use for the job's next stage, if so many are free. */
static int wish(const struct worker *worker, const struct job *job)
{
    int worth = job_cores_worth(job), cores = worker->all->cores->count;
    if (worker->kind != QUEUE_WIDE)
        return 1;
    return worth < cores ? worth : cores;
}

static void decode(struct worker *worker, struct job *job)
{
    int cores = cores_take(worker->all->cores, wish(worker, job));
    job_decode(job, cores, true);
    cores_give_back(worker->all->cores, cores);
}

static void compute(struct worker *worker, struct job *job, int cores)
{
    struct workers *all = worker->all;
    if (!worker->stream || gpus_available(all->gpus) == 0) {
        job_run(job, all->backend, worker->lane, cores);
        return;
    }
    job_run(job, all->gpus->backend, worker->stream, cores);
    if (all->gpus->backend->is_broken(worker->stream) && gpus_lose(all->gpus))
        log_say(all->log, LOG_ERROR, "a CUDA device is lost, none is used any more", "error",
                job->error.message);
}

static void run(struct worker *worker, struct job *job)
{
    int cores = cores_take(worker->all->cores, wish(worker, job));
    compute(worker, job, cores);
    cores_give_back(worker->all->cores, cores);
}

static void set_running(struct worker *worker, struct job *job)
{
    pthread_mutex_lock(&worker->lock);
    worker->running = job;
    pthread_mutex_unlock(&worker->lock);
}

/* Once it is planned, a job for a device goes on to that device's workers, and a large one to a
 * worker with a team, if one has nothing to do; from a worker that waits for disks, in any case. */
static bool pass_on(struct worker *worker, struct job *job)
{
    struct queue *queue = worker->all->queue;
    if (worker->stream)
        return false;
    gpus_choose(worker->all->gpus, job);
    int kind = queue_kind_of_job(job);
    if (job->gpu >= 0)
        return queue_pass(queue, job, kind);
    if (worker->kind == QUEUE_FILES && kind == QUEUE_WIDE)
        return queue_pass(queue, job, kind);
    return worker->kind == QUEUE_NARROW && kind == QUEUE_WIDE && queue_offer(queue, job, kind);
}

static void plan_in_turn(struct worker *worker, struct job *job)
{
    if (job_is_over(job))
        return;
    set_running(worker, job);
    job_plan(job);
}

/* False: the job is over, as the queue is closed. */
static bool pass_to_files(struct worker *worker, struct job *job)
{
    if (queue_pass(worker->all->queue, job, QUEUE_FILES))
        return true;
    job_draining(&job->error);
    return false;
}

/* Decoded, it enters the lines of the residents that it names, and is planned in its turn. False:
 * it waits in line, and comes back through the queue, where its place is kept. */
static bool plan(struct worker *worker, struct job *job)
{
    struct queue *queue = worker->all->queue;
    queue_keep(queue, job);
    if (job_enter(job, true) == JOB_TURN_WAITS)
        return false;
    queue_give_up(queue, job);
    if (job_is_over(job) || !job_needs_files(job)) {
        plan_in_turn(worker, job);
        return true;
    }
    if (worker->kind != QUEUE_FILES)
        return !pass_to_files(worker, job);
    set_running(worker, job);
    job_prepare(job);
    plan_in_turn(worker, job);
    return true;
}

/* False: the job has gone on to another worker, or to a line, whose it is then. While it may be
 * handed on, nobody can stop it through this worker. */
static bool work(struct worker *worker, struct job *job)
{
    job_leave_queue(job);
    if (!job_is_over(job) && !job->decoded)
        decode(worker, job);
    if (job_is_over(job))
        return true;
    set_running(worker, NULL);
    if (!job->planned && !plan(worker, job))
        return false;
    if (job_is_over(job))
        return true;
    set_running(worker, NULL);
    if (pass_on(worker, job))
        return false;
    set_running(worker, job);
    run(worker, job);
    return true;
}

static void *serve(void *context)
{
    struct worker *worker = context;
    struct job *job;
    if (worker->kind == QUEUE_WIDE)
        team_make(worker->all->cores->count);
    if (worker == worker->all->list)
        machine_measure(worker->all->machine, worker->all->cores->count);
    sem_post(&worker->all->started);
    while ((job = queue_take(worker->all->queue, worker->kind))) {
        set_running(worker, job);
        bool is_done = work(worker, job);
        set_running(worker, NULL);
        if (is_done)
            job_end(job);
    }
    return NULL;
}

static void close_lanes(struct worker *worker)
{
    const struct workers *all = worker->all;
    if (worker->stream)
        all->gpus->backend->close(worker->stream);
    if (worker->lane)
        all->backend->close(worker->lane);
}

static bool open_lanes(struct worker *worker, const struct gpu *gpu, struct error *error)
{
    const struct workers *all = worker->all;
    worker->lane = all->backend->open(0, 0, error);
    if (!worker->lane || !gpu)
        return worker->lane != NULL;
    worker->stream = all->gpus->backend->open(gpu->device, gpu->lane_bytes, error);
    return worker->stream != NULL;
}

/* `gpu` NULL: for the CPU. */
static enum error_code start(struct workers *workers, int kind, const struct gpu *gpu,
                             struct error *error)
{
    struct worker *worker = &workers->list[workers->count];
    *worker = (struct worker){.all = workers, .kind = kind};
    if (!open_lanes(worker, gpu, error)) {
        close_lanes(worker);
        return error->code;
    }
    pthread_mutex_init(&worker->lock, NULL);
    if (pthread_create(&worker->thread, NULL, serve, worker) == 0) {
        workers->count++;
        return ERROR_NONE;
    }
    pthread_mutex_destroy(&worker->lock);
    close_lanes(worker);
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "cannot start a worker thread");
}

static enum error_code start_all(struct workers *workers, const struct workers_setup *setup,
                                 int streams, struct error *error)
{
    for (int i = 0; i < setup->count; i++)
        if (start(workers, i < setup->wide ? QUEUE_WIDE : QUEUE_NARROW, NULL, error) != ERROR_NONE)
            return error->code;
    for (int i = 0; i < setup->files; i++)
        if (start(workers, QUEUE_FILES, NULL, error) != ERROR_NONE)
            return error->code;
    for (int gpu = 0; gpu < setup->gpus->count; gpu++)
        for (int i = 0; i < streams; i++)
            if (start(workers, queue_kind_of_gpu(gpu), &setup->gpus->list[gpu], error) !=
                ERROR_NONE)
                return error->code;
    return ERROR_NONE;
}

enum error_code workers_init(struct workers *workers, const struct workers_setup *setup,
                             struct error *error)
{
    int streams = (int)setup->gpus->config->cuda_streams;
    int most = setup->count + setup->files + setup->gpus->count * streams;
    *workers = (struct workers){.queue = setup->queue,
                                .cores = setup->cores,
                                .backend = setup->backend,
                                .gpus = setup->gpus,
                                .log = setup->log,
                                .machine = setup->machine};
    sem_init(&workers->started, 0, 0);
    workers->list = calloc((size_t)most, sizeof *workers->list);
    if (!workers->list)
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for the workers");
    if (start_all(workers, setup, streams, error) != ERROR_NONE) {
        queue_close(setup->queue);
        workers_release(workers);
        return error->code;
    }
    for (int i = 0; i < most; i++)
        while (sem_wait(&workers->started) != 0)
            continue;
    return ERROR_NONE;
}

void workers_release(struct workers *workers)
{
    for (int i = 0; i < workers->count; i++) {
        struct worker *worker = &workers->list[i];
        pthread_join(worker->thread, NULL);
        pthread_mutex_destroy(&worker->lock);
        close_lanes(worker);
    }
    sem_destroy(&workers->started);
    free(workers->list);
}

int workers_running(struct workers *workers)
{
    int running = 0;
    for (int i = 0; i < workers->count; i++) {
        pthread_mutex_lock(&workers->list[i].lock);
        running += workers->list[i].running != NULL;
        pthread_mutex_unlock(&workers->list[i].lock);
    }
    return running;
}

void workers_stop(struct workers *workers, enum error_code (*why)(struct job *job, void *context),
                  void *context)
{
    for (int i = 0; i < workers->count; i++) {
        struct worker *worker = &workers->list[i];
        pthread_mutex_lock(&worker->lock);
        enum error_code code = worker->running ? why(worker->running, context) : ERROR_NONE;
        if (code != ERROR_NONE)
            job_stop(worker->running, code);
        pthread_mutex_unlock(&worker->lock);
    }
}
