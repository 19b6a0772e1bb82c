#include "server/worker.h"

#include "server/clock.h"

#include <stdlib.h>

bool worker_job_is_wide(const struct job *job)
{
    return job_cores_worth(job) > 1;
}

static int wish(const struct worker *worker, const struct job *job)
{
    int worth = job_cores_worth(job), cores = worker->all->cores->count;
    return !worker->wide ? 1 : worth < cores ? worth : cores;
}

static void decode(struct worker *worker, struct job *job)
{
    int cores = cores_take(worker->all->cores, wish(worker, job));
    job_decode(job, cores);
    cores_give_back(worker->all->cores, cores);
    if (job->decoded && !job_is_over(job))
        job_plan(job, 1);
}

static void run(struct worker *worker, struct job *job)
{
    int cores = cores_take(worker->all->cores, wish(worker, job));
    /* The plan decides its scratch by the number of threads, and only a plan tells how many the job
     * is worth. */
    if (cores != job->plan.options.threads)
        job_plan(job, cores);
    if (job->planned)
        job_run(job, worker->all->backend, worker->lane);
    cores_give_back(worker->all->cores, cores);
}

static void work(struct worker *worker, struct job *job)
{
    job->times.queue_ns = clock_ns() - job->times.queued_ns;
    if (!job_is_over(job) && !job->decoded)
        decode(worker, job);
    if (!job_is_over(job))
        run(worker, job);
}

static void set_running(struct worker *worker, struct job *job)
{
    pthread_mutex_lock(&worker->lock);
    worker->running = job;
    pthread_mutex_unlock(&worker->lock);
}

static void make_team(int size)
{
#pragma omp parallel num_threads(size)
    {
        __asm__ volatile("" ::: "memory"); /* the region is not empty to the compiler */
    }
}

static void *serve(void *context)
{
    struct worker *worker = context;
    struct job *job;
    if (worker->wide)
        make_team(worker->all->cores->count);
    sem_post(&worker->all->started);
    while ((job = queue_take(worker->all->queue, worker->wide))) {
        set_running(worker, job);
        work(worker, job);
        set_running(worker, NULL);
        job->finish(job);
    }
    return NULL;
}

static enum error_code start(struct worker *worker, struct error *error)
{
    worker->lane = worker->all->backend->open(0, 0, error);
    if (!worker->lane)
        return error->code;
    pthread_mutex_init(&worker->lock, NULL);
    if (pthread_create(&worker->thread, NULL, serve, worker) == 0)
        return ERROR_NONE;
    pthread_mutex_destroy(&worker->lock);
    worker->all->backend->close(worker->lane);
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "cannot start a worker thread");
}

enum error_code workers_init(struct workers *workers, int count, int wide, struct queue *queue,
                             struct cores *cores, const struct backend *backend,
                             struct error *error)
{
    *workers = (struct workers){.queue = queue, .cores = cores, .backend = backend};
    sem_init(&workers->started, 0, 0);
    workers->list = calloc((size_t)count, sizeof *workers->list);
    if (!workers->list)
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for the workers");
    for (int i = 0; i < count; i++) {
        struct worker *worker = &workers->list[i];
        worker->all = workers;
        worker->wide = i < wide;
        enum error_code code = start(worker, error);
        if (code != ERROR_NONE) {
            queue_close(queue);
            workers_release(workers);
            return code;
        }
        workers->count++;
    }
    for (int i = 0; i < count; i++)
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
        workers->backend->close(worker->lane);
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
