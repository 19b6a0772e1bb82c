#include "server/life/keeper.h"

#include "server/base/clock.h"
#include "server/jobs/job.h"
#include "server/life/watch.h"
#include "server/rules.h"
#include "server/tensors/store_files.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

enum { HOME_BYTES = 60 * 1024 };

#define TIMEOUT_NS (10000 * HOUR) /* a snapshot takes as long as its disk needs */

/* A job of the keeper; it lies in its own home block. */
struct errand {
    struct job job; /* first */
    struct keeper *keeper;
};

void keeper_init(struct keeper *keeper, struct server *server)
{
    *keeper = (struct keeper){.server = server};
}

static void come_back(struct job *job)
{
    atomic_store_explicit(&((struct errand *)job)->keeper->is_done, true, memory_order_release);
}

static void go_on(struct job *job)
{
    struct errand *errand = (struct errand *)job;
    queue_push(&errand->keeper->server->queue, job, queue_kind_of_job(job));
}

/* NULL without memory. */
static struct errand *make(struct keeper *keeper, enum verb verb, const char *name)
{
    struct server *server = keeper->server;
    struct tensor_call call = {.verb = verb};
    struct job_setup setup = {.rules = server_rules(server),
                              .timeout_ns = TIMEOUT_NS,
                              .finish = come_back,
                              .come = go_on,
                              .fd = -1,
                              .call = &call,
                              .holds = {.store = &server->store,
                                        .files = &server->files,
                                        .bounds = {SIZE_MAX, SIZE_MAX},
                                        .token = ""}};
    struct block *home = blocks_get(&server->blocks, HOME_BYTES);
    if (!home)
        return NULL;
    struct errand *errand = (struct errand *)home->bytes;
    strcpy(call.name, name);
    home->used = (sizeof *errand + TENSOR_ALIGNMENT - 1) & ~(size_t)(TENSOR_ALIGNMENT - 1);
    errand->keeper = keeper;
    keeper->home = home;
    atomic_store(&keeper->is_done, false);
    job_init(&errand->job, &server->blocks, &server->budget, home);
    job_open(&errand->job, &setup);
    job_receive(&errand->job, home->bytes, 0);
    return errand;
}

/* Ends the errand. False: it failed, which has been logged. */
static bool end(struct keeper *keeper)
{
    struct server *server = keeper->server;
    struct job *job = &((struct errand *)keeper->home->bytes)->job;
    bool is_done = job->error.code == ERROR_NONE;
    if (!is_done && job->error.code != ERROR_CONFLICT)
        store_failed(&server->store, job->call.name, clock_ns());
    if (!is_done && job->call.verb == VERB_EXPIRE)
        log_say(&server->log, LOG_ERROR, "a tensor whose lease is over stays", "error",
                job->error.message);
    arena_release(&job->arena);
    blocks_put(&server->blocks, job->arena.chain);
    keeper->home = NULL;
    return is_done;
}

static void start(struct keeper *keeper, enum verb verb, const char *name)
{
    struct queue *queue = &keeper->server->queue;
    struct errand *errand = make(keeper, verb, name);
    struct error error;
    if (!errand)
        return;
    if (queue_admit(queue, 0, SIZE_MAX, &error) == ERROR_NONE)
        queue_push(queue, &errand->job, QUEUE_FILES);
    else
        end(keeper);
}

static bool is_under_way(struct keeper *keeper)
{
    if (keeper->home && atomic_load_explicit(&keeper->is_done, memory_order_acquire))
        end(keeper);
    return keeper->home != NULL;
}

/* Picks what is next to be done. */
static void look(struct keeper *keeper, uint64_t now_ns)
{
    struct server *server = keeper->server;
    uint64_t interval = server->config.snapshot_interval, since_ns;
    char name[TENSOR_NAME_MAX + 1];
    bool is_unsaved = store_next_unsaved(&server->store, UINT64_MAX, name, &since_ns);
    atomic_store(&server->files.unsaved_since_ns, is_unsaved ? since_ns : 0);
    if (store_next_expired(&server->store, now_ns, name))
        start(keeper, VERB_EXPIRE, name);
    else if (interval > 0 && now_ns > interval &&
             store_next_unsaved(&server->store, now_ns - interval, name, &since_ns))
        start(keeper, VERB_SNAPSHOT, name);
}

/* The keeper looks for work each second, and at once after a job. */
void keeper_tick(struct keeper *keeper, uint64_t now_ns)
{
    bool was_busy = keeper->home != NULL;
    if (!files_exist(&keeper->server->files) || is_under_way(keeper) ||
        (!was_busy && now_ns - keeper->looked_ns < SEC))
        return;
    keeper->looked_ns = now_ns;
    look(keeper, now_ns);
}

/* ------------------------------------------------------------------------------------ the drain */

/* On this thread: by now the queue may be closed. */
static bool save(struct keeper *keeper, const char *name)
{
    struct errand *errand = make(keeper, VERB_SNAPSHOT, name);
    if (!errand) {
        store_failed(&keeper->server->store, name, clock_ns());
        return false;
    }
    struct job *job = &errand->job;
    job_decode(job, 1, true);
    if (job->decoded && job_enter(job, false) == JOB_TURN_BUSY)
        job_draining(&job->error);
    if (job_needs_files(job))
        job_prepare(job);
    if (job->error.code == ERROR_NONE)
        job_plan(job);
    if (job->planned)
        job_run(job, keeper->server->backend, NULL, 1);
    holds_release(&job->holds);
    return end(keeper);
}

bool keeper_finish(struct keeper *keeper, void (*alive)(void *context), void *context)
{
    struct store *store = &keeper->server->store;
    char name[TENSOR_NAME_MAX + 1];
    uint64_t since_ns, start_ns = clock_ns();
    bool is_all = true;
    if (!files_exist(&keeper->server->files))
        return true;
    while (is_under_way(keeper)) {
        if (keeper->server->phase == PHASE_STOPPING)
            watch_end_all(keeper->server);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    /* A resident whose write has failed since the start is not tried again. */
    while (alive(context), store_next_unsaved(store, start_ns, name, &since_ns))
        is_all = save(keeper, name) && is_all;
    files_leave_clean(&keeper->server->files);
    return is_all;
}
