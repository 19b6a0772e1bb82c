/* queue: jobs that wait for a worker, bounded in jobs and in bytes. A place is taken first, while
 * the request can still be refused, and filled afterwards.
 *
 * Large ("wide") jobs are taken only by workers that may use several cores; those take the oldest
 * job of either kind. */
#ifndef SERVER_JOBS_QUEUE_H
#define SERVER_JOBS_QUEUE_H

#include "server/jobs/gpus.h"
#include "server/jobs/job.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of jobs. Those that wait for a disk, and from QUEUE_GPUS on those of each CUDA device, are
 * taken only by workers of their own. */
enum { QUEUE_NARROW, QUEUE_WIDE, QUEUE_FILES, QUEUE_GPUS, QUEUE_KINDS = QUEUE_GPUS + GPUS_MAX };

/* `gpu`: a device's place in gpus.h's list. */
static inline int queue_kind_of_gpu(int gpu)
{
    return QUEUE_GPUS + gpu;
}

/* The kind of worker that the job is for, as far as it is known: its device's; one that waits for
 * disks; one that may use several cores, when the job is worth them; else any. */
int queue_kind_of_job(const struct job *job);

struct queue_lane {
    struct job *first, **last;
    pthread_cond_t wake; /* the workers that wait for this kind */
    int waiting;
};

struct queue {
    pthread_mutex_t lock;
    struct queue_lane kinds[QUEUE_KINDS];
    size_t jobs, bytes; /* places taken, filled or not */
    size_t most_bytes;
    uint64_t tickets;
    bool closed;
};

void queue_init(struct queue *queue, size_t most_bytes);
void queue_release(struct queue *queue);

/* Takes a place for a job of `bytes`. A job larger than the whole queue is let into an empty one.
 * Errors: QUEUE_FULL, DRAINING (the queue is closed). */
MUST_CHECK enum error_code queue_admit(struct queue *queue, size_t bytes, size_t most_jobs,
                                       struct error *error);

/* Whether queue_admit would succeed at this moment. Errors: those of queue_admit. */
MUST_CHECK enum error_code queue_check(struct queue *queue, size_t bytes, size_t most_jobs,
                                       struct error *error);

/* Takes a place for a job that was taken out and is to come back: it was accepted, so no bound
 * refuses it. queue_give_up: it does not come. */
void queue_keep(struct queue *queue, const struct job *job);
void queue_give_up(struct queue *queue, const struct job *job);

/* Fills the place: the job becomes the queue's, then a worker's. Its body_size is the bytes
 * admitted. Each function that puts a job into the queue sets its times.queued_ns. */
void queue_push(struct queue *queue, struct job *job, int kind);

/* Waits for the next job; NULL when the queue is closed and empty. `kind` is the worker's. */
struct job *queue_take(struct queue *queue, int kind);

/* A job that was taken goes on to workers of another kind; it was accepted, so no bound refuses it.
 * False when the queue is closed: the job is still the caller's. */
MUST_CHECK bool queue_pass(struct queue *queue, struct job *job, int kind);

/* queue_pass while a worker of that kind waits for a job; else the job is still the caller's. */
MUST_CHECK bool queue_offer(struct queue *queue, struct job *job, int kind);

/* Takes out all jobs for which `is_wanted` says so, as a list through job->next. */
struct job *queue_remove(struct queue *queue, bool (*is_wanted)(struct job *job, void *context),
                         void *context);

/* Shows every job to `see`, which must be quick: the queue stands still. */
void queue_each(struct queue *queue, void (*see)(struct job *job, void *context), void *context);

void queue_close(struct queue *queue);

struct queue_load {
    size_t jobs, bytes;
};

struct queue_load queue_load(struct queue *queue);

#endif
