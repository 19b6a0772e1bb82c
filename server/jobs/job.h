/* job: a request that is computed, from its body to its answer. It has exactly one owner at any
 * moment: the HTTP thread that read it, then the queue, then a worker, then the HTTP thread again,
 * which gets it by job->finish.
 *
 * Life: job_init -> job_open -> job_receive -> job_decode -> job_plan -> job_run. A request that
 * computes nothing stops after job_init: it uses the job's memory and its error. Each stage records
 * its fault in job->error; after a fault no further stage is run. */
#ifndef SERVER_JOBS_JOB_H
#define SERVER_JOBS_JOB_H

#include "kernels/backend.h"
#include "kernels/plan.h"
#include "proto/answer/response.h"
#include "proto/request/head.h"
#include "proto/request/request.h"
#include "server/jobs/holds.h"
#include "server/jobs/tensor_job.h"
#include "server/memory/arena.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct job_times {
    uint64_t received_ns; /* the last byte of the body was in; deadlines count from here */
    uint64_t queued_ns;   /* when the queue last took the job; 0: never */
    uint64_t stage_ns;    /* when its last stage ended, or it left the queue */
    /* durations */
    uint64_t parse_ns, queue_ns, line_ns, compute_ns, encode_ns;
};

enum { GPU_UNKNOWN = -2, GPU_NONE = -1 };

/* What a job does: it computes an operation, or stores, reads or drops a tensor. */
enum job_kind { JOB_INFER, JOB_TENSOR };

struct job {
    struct arena arena;
    struct job *next;                /* the queue's */
    uint64_t ticket;                 /* the queue's */
    void (*finish)(struct job *job); /* hands it back: nothing of it may be touched afterwards */
    struct recall *recall;           /* of the thread that decodes the job; NULL: none */
    int fd;                          /* the client's socket, to see it leave; -1: none */

    char *body;
    size_t body_size;
    struct head head;
    struct op_name op;
    const struct machine *machine;
    struct request_rules rules;
    uint64_t timeout_ns; /* the server's, then the smaller of its and the request's */

    enum job_kind kind;
    struct tensor_call call;       /* JOB_TENSOR */
    struct holds holds;            /* of resident tensors */
    void (*come)(struct job *job); /* called when the job's turn has come: the job goes on */

    bool decoded, planned;
    bool is_answered;   /* the answer is one that was given before: nothing is to be run */
    bool is_unchanged;  /* what is asked for is what the client has */
    int status;         /* of its answer, 200 unless it says otherwise */
    int gpu;            /* that it runs on, its place in gpus.h's list; GPU_NONE: the CPU */
    const char *device; /* the name of the backend that ran it; NULL: none has */

    /* What stops a running job: others set `stopped_by` and then `stop`. */
    atomic_bool stop;
    _Atomic enum error_code stopped_by;
    _Atomic uint64_t deadline_ns;
    struct job_times times;

    /* Filled by the stages: job_open leaves nothing in them. */
    struct error error;
    struct error unread; /* what the values were, read as of a type that a tensor had on arrival */
    struct request request;
    struct plan plan;
    struct response response;
};

/* Gives the job its memory, and nothing to compute yet. Takes over `home`, in which the job itself
 * may lie. */
void job_init(struct job *job, struct blocks *blocks, struct budget *budget, struct block *home);

/* All that a job must be told. */
struct job_setup {
    struct op_name op;
    const struct machine *machine; /* that it runs on; NULL: machine_typical */
    struct head head;
    struct request_rules rules;
    uint64_t timeout_ns;
    struct budget *share;            /* the client's part of the memory; NULL: all of it */
    void (*finish)(struct job *job); /* NULL: the job never goes to a queue */
    int fd;                          /* the client's socket; -1: none */
    struct holds_setup holds;
    void (*come)(struct job *job);  /* called when its turn has come; the job is the callee's */
    const struct tensor_call *call; /* NULL: an operation is computed */
};

/* Makes it a job to compute. It holds no memory but `home` yet. */
void job_open(struct job *job, const struct job_setup *setup);

/* The body is complete: the clock of its deadline starts. */
void job_receive(struct job *job, char *body, size_t size);

/* The job is out of the queue: what it waited there is counted. */
void job_leave_queue(struct job *job);

/* The body becomes a request. `threads` is how many cores it may use; `may_wait`: for a disk.
 * Neither decoded nor failed: it would have to wait, and is to be decoded anew. */
void job_decode(struct job *job, int threads, bool may_wait);

/* Enters the lines of the residents that the job names. A job that names none holds its turn at
 * once. JOB_TURN_WAITS: it is in line and no longer the caller's; it comes back by job->come, to be
 * planned. JOB_TURN_BUSY, only where it may not wait: it is to enter again. After an error it is
 * over. */
enum job_turn { JOB_TURN_HELD, JOB_TURN_WAITS, JOB_TURN_BUSY };
enum job_turn job_enter(struct job *job, bool may_wait);

/* Whether the job's turn has come, and what it names must be loaded from files first. Then it is
 * for workers that wait for disks. */
bool job_needs_files(const struct job *job);

/* Loads it. The job's deadline does not end that: who asks again finds it done. */
void job_prepare(struct job *job);

/* In the job's turn: checks shapes, types and sizes, or finds what was answered before. */
void job_plan(struct job *job);

/* Ends the job: gives back what it holds of residents, and hands it back by job->finish. */
void job_end(struct job *job);

/* The job whose turn this is. */
struct job *job_of_turn(struct turn *turn);

/* Whether the job reads and writes no more than `bytes`, the answer included. */
bool job_is_light(const struct job *job, size_t bytes);

/* How many cores the next stage is worth. */
int job_cores_worth(const struct job *job);

/* Finds memory, computes and encodes, with so many cores. */
void job_run(struct job *job, const struct backend *backend, struct lane *lane, int threads);

/* Why the job need not be run: DEADLINE_EXCEEDED, CANCELLED (its client has left), or ERROR_NONE.
 * Any thread; the caller sees to it that the job is there. */
enum error_code job_due(const struct job *job);

/* Whether the job failed, was stopped or is due; then its error is set. */
bool job_is_over(struct job *job);

/* As job_is_over, without a system call: the time is that of the end of the job's last stage, and
 * the client's socket is not asked. For a job whose client was there a moment ago. */
bool job_is_late(struct job *job);

/* Tells a running job to end early with `why`. Any thread; the caller sees to it that the job is
 * there. */
void job_stop(struct job *job, enum error_code why);

/* Says that this server stops, and returns DRAINING. */
enum error_code job_draining(struct error *error);

#endif
