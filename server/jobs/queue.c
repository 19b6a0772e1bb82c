#include "server/jobs/queue.h"

#include "server/base/clock.h"

#include <assert.h>

static void lane_init(struct queue_lane *lane)
{
    lane->first = NULL;
    lane->last = &lane->first;
    lane->waiting = 0;
    pthread_cond_init(&lane->wake, NULL);
}

static void lane_put(struct queue_lane *lane, struct job *job)
{
    job->next = NULL;
    *lane->last = job;
    lane->last = &job->next;
}

static struct job *lane_get(struct queue_lane *lane)
{
    struct job *job = lane->first;
    lane->first = job->next;
    if (!lane->first)
        lane->last = &lane->first;
    return job;
}

void queue_init(struct queue *queue, size_t most_bytes)
{
    *queue = (struct queue){.most_bytes = most_bytes};
    pthread_mutex_init(&queue->lock, NULL);
    for (int kind = 0; kind < QUEUE_KINDS; kind++)
        lane_init(&queue->kinds[kind]);
}

void queue_release(struct queue *queue)
{
    assert(queue->jobs == 0 && queue->bytes == 0);
    for (int kind = 0; kind < QUEUE_KINDS; kind++)
        pthread_cond_destroy(&queue->kinds[kind].wake);
    pthread_mutex_destroy(&queue->lock);
}

static bool has_room(const struct queue *queue, size_t bytes, size_t most_jobs)
{
    if (queue->jobs == 0)
        return true;
    return queue->jobs < most_jobs && queue->bytes <= queue->most_bytes &&
           bytes <= queue->most_bytes - queue->bytes;
}

static enum error_code check(const struct queue *queue, size_t bytes, size_t most_jobs,
                             struct error *error)
{
    if (queue->closed)
        return job_draining(error);
    if (has_room(queue, bytes, most_jobs))
        return ERROR_NONE;
    return error_set(error, ERROR_QUEUE_FULL, NULL,
                     "the queue is full (limits queue_jobs and queue_bytes), try again");
}

enum error_code queue_check(struct queue *queue, size_t bytes, size_t most_jobs,
                            struct error *error)
{
    pthread_mutex_lock(&queue->lock);
    enum error_code code = check(queue, bytes, most_jobs, error);
    pthread_mutex_unlock(&queue->lock);
    return code;
}

enum error_code queue_admit(struct queue *queue, size_t bytes, size_t most_jobs,
                            struct error *error)
{
    pthread_mutex_lock(&queue->lock);
    enum error_code code = check(queue, bytes, most_jobs, error);
    if (code == ERROR_NONE) {
        queue->jobs++;
        queue->bytes += bytes;
    }
    pthread_mutex_unlock(&queue->lock);
    return code;
}

int queue_kind_of_job(const struct job *job)
{
    if (job->gpu >= 0)
        return queue_kind_of_gpu(job->gpu);
    if (tensor_job_is_of_files(job) || (!job->planned && job_needs_files(job)))
        return QUEUE_FILES;
    return job_cores_worth(job) > 1 ? QUEUE_WIDE : QUEUE_NARROW;
}

static void put(struct queue *queue, struct job *job, int kind)
{
    struct queue_lane *lane = &queue->kinds[kind];
    job->ticket = queue->tickets++;
    job->times.queued_ns = clock_ns();
    lane_put(lane, job);
    /* A wide worker takes narrow jobs too when no narrow one waits. */
    if (kind == QUEUE_NARROW && lane->waiting == 0)
        lane = &queue->kinds[QUEUE_WIDE];
    pthread_cond_signal(&lane->wake);
}

void queue_push(struct queue *queue, struct job *job, int kind)
{
    pthread_mutex_lock(&queue->lock);
    put(queue, job, kind);
    pthread_mutex_unlock(&queue->lock);
}

static bool pass(struct queue *queue, struct job *job, int kind, bool is_wanted)
{
    if (queue->closed || !is_wanted)
        return false;
    queue->jobs++;
    queue->bytes += job->body_size;
    put(queue, job, kind);
    return true;
}

bool queue_pass(struct queue *queue, struct job *job, int kind)
{
    pthread_mutex_lock(&queue->lock);
    bool passed = pass(queue, job, kind, true);
    pthread_mutex_unlock(&queue->lock);
    return passed;
}

/* A woken worker takes itself off `waiting` only when it runs: until then the job that it was woken
 * for lies in the lane, and stands for it. */
bool queue_offer(struct queue *queue, struct job *job, int kind)
{
    const struct queue_lane *lane = &queue->kinds[kind];
    pthread_mutex_lock(&queue->lock);
    bool passed = pass(queue, job, kind, lane->waiting > 0 && !lane->first);
    pthread_mutex_unlock(&queue->lock);
    return passed;
}

/* The lane with the oldest job that such a worker may take, or NULL. */
static struct queue_lane *oldest(struct queue *queue, int kind)
{
    struct queue_lane *own = &queue->kinds[kind], *narrow = &queue->kinds[QUEUE_NARROW];
    if (kind == QUEUE_WIDE && narrow->first &&
        (!own->first || narrow->first->ticket < own->first->ticket))
        return narrow;
    return own->first ? own : NULL;
}

static void leave(struct queue *queue, const struct job *job)
{
    queue->jobs--;
    queue->bytes -= job->body_size;
}

void queue_keep(struct queue *queue, const struct job *job)
{
    pthread_mutex_lock(&queue->lock);
    queue->jobs++;
    queue->bytes += job->body_size;
    pthread_mutex_unlock(&queue->lock);
}

void queue_give_up(struct queue *queue, const struct job *job)
{
    pthread_mutex_lock(&queue->lock);
    leave(queue, job);
    pthread_mutex_unlock(&queue->lock);
}

struct job *queue_take(struct queue *queue, int kind)
{
    struct queue_lane *own = &queue->kinds[kind], *lane;
    pthread_mutex_lock(&queue->lock);
    while (!(lane = oldest(queue, kind)) && !queue->closed) {
        own->waiting++;
        pthread_cond_wait(&own->wake, &queue->lock);
        own->waiting--;
    }
    struct job *job = lane ? lane_get(lane) : NULL;
    if (job)
        leave(queue, job);
    pthread_mutex_unlock(&queue->lock);
    return job;
}

static void remove_from(struct queue *queue, struct queue_lane *lane,
                        bool (*is_wanted)(struct job *job, void *context), void *context,
                        struct job **removed)
{
    for (struct job **link = &lane->first, *job; (job = *link);) {
        if (!is_wanted(job, context)) {
            link = &job->next;
            continue;
        }
        *link = job->next;
        leave(queue, job);
        job->next = *removed;
        *removed = job;
    }
    for (lane->last = &lane->first; *lane->last;)
        lane->last = &(*lane->last)->next;
}

struct job *queue_remove(struct queue *queue, bool (*is_wanted)(struct job *job, void *context),
                         void *context)
{
    struct job *removed = NULL;
    pthread_mutex_lock(&queue->lock);
    for (int kind = 0; kind < QUEUE_KINDS; kind++)
        remove_from(queue, &queue->kinds[kind], is_wanted, context, &removed);
    pthread_mutex_unlock(&queue->lock);
    return removed;
}

void queue_each(struct queue *queue, void (*see)(struct job *job, void *context), void *context)
{
    pthread_mutex_lock(&queue->lock);
    for (int kind = 0; kind < QUEUE_KINDS; kind++)
        for (struct job *job = queue->kinds[kind].first; job; job = job->next)
            see(job, context);
    pthread_mutex_unlock(&queue->lock);
}

void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    for (int kind = 0; kind < QUEUE_KINDS; kind++)
        pthread_cond_broadcast(&queue->kinds[kind].wake);
    pthread_mutex_unlock(&queue->lock);
}

struct queue_load queue_load(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    struct queue_load load = {queue->jobs, queue->bytes};
    pthread_mutex_unlock(&queue->lock);
    return load;
}
