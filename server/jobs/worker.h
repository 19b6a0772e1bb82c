/* worker: threads that take jobs from the queue, each with a lane of the backend. A wide worker has
 * a team of threads for large jobs, made at full size before the first job and never grown: the
 * OpenMP runtime ends the process when it cannot make a thread. A worker of a CUDA device has one
 * of its streams; when the device is lost it computes on the CPU what is still given to it. */
#ifndef SERVER_JOBS_WORKER_H
#define SERVER_JOBS_WORKER_H

#include "kernels/backend.h"
#include "kernels/machine.h"
#include "server/jobs/cores.h"
#include "server/jobs/gpus.h"
#include "server/jobs/queue.h"
#include "server/log/log.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

struct worker {
    struct workers *all;
    pthread_t thread;
    int kind; /* of the jobs that it takes: see queue.h */
    struct lane *lane;
    struct lane *stream; /* a lane of a CUDA device; NULL: not one of its workers */
    pthread_mutex_t lock;
    struct job *running; /* under `lock`, for those who stop it */
};

struct workers {
    struct queue *queue;
    struct cores *cores;
    const struct backend *backend;
    struct gpus *gpus;
    struct log *log;
    struct machine *machine;
    struct worker *list;
    int count;
    sem_t started;
};

/* What workers share. */
struct workers_setup {
    int count, wide; /* of those for the CPU, and how many of them are wide */
    int files;       /* of those that wait for a disk, besides */
    struct queue *queue;
    struct cores *cores;
    const struct backend *backend;
    struct gpus *gpus; /* each gets workers besides */
    struct log *log;
    struct machine *machine; /* measured by the first wide worker before its first job */
};

/* Starts the workers and waits until they are ready. Errors: RESOURCE_EXHAUSTED, or a backend's. */
MUST_CHECK enum error_code workers_init(struct workers *workers, const struct workers_setup *setup,
                                        struct error *error);

/* The queue must be closed: waits for the last job. */
void workers_release(struct workers *workers);

/* Jobs that run now. */
int workers_running(struct workers *workers);

/* Stops every running job for which `why` gives a code. */
void workers_stop(struct workers *workers, enum error_code (*why)(struct job *job, void *context),
                  void *context);

#endif
