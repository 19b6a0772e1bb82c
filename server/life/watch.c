#include "server/life/watch.h"

#include "server/base/clock.h"
#include "server/http/http.h"

#define TRIM_NS (5 * SEC)

enum { TICK_MS = 100, PULSE_MS = 10 };

static bool is_over(struct job *job, void *context)
{
    (void)context;
    return job_is_over(job);
}

static enum error_code why_over(struct job *job, void *context)
{
    (void)context;
    return job_due(job);
}

static bool is_stopped(struct job *job, void *context)
{
    (void)context;
    job_stop(job, ERROR_DRAINING);
    return job_is_over(job);
}

static enum error_code why_stopped(struct job *job, void *context)
{
    (void)job;
    (void)context;
    return ERROR_DRAINING;
}

static void finish_all(struct job *list)
{
    for (struct job *job = list, *next; job; job = next) {
        next = job->next;
        job_leave_queue(job);
        job_end(job);
    }
}

static bool is_turn_over(struct turn *turn, void *context)
{
    return is_over(job_of_turn(turn), context);
}

static bool is_turn_stopped(struct turn *turn, void *context)
{
    return is_stopped(job_of_turn(turn), context);
}

/* Turns that wait in lines keep a place in the queue, to which they come back. */
static void finish_turns(struct server *server, bool (*is_wanted)(struct turn *turn, void *context))
{
    struct turn *list = store_remove(&server->store, is_wanted, NULL, clock_ns());
    for (struct turn *turn = list, *next; turn; turn = next) {
        next = turn->next_held;
        queue_give_up(&server->queue, job_of_turn(turn));
        job_end(job_of_turn(turn));
    }
}

void watch_init(struct watch *watch, struct server *server)
{
    *watch = (struct watch){.server = server, .tick_ms = TICK_MS};
}

static bool is_time(uint64_t *last_ns, uint64_t now, uint64_t every_ns)
{
    if (now - *last_ns < every_ns)
        return false;
    *last_ns = now;
    return true;
}

/* Queued jobs are looked at only every TICK_MS, also when a pulse shortens the ticks: a look holds
 * up the queue. */
void watch_tick(struct watch *watch)
{
    struct server *server = watch->server;
    uint64_t now = clock_ns();
    watch->tick_ms = http_pulse(server->http) ? PULSE_MS : TICK_MS;
    if (is_time(&watch->looked_ns, now, TICK_MS * MSEC)) {
        finish_turns(server, is_turn_over);
        finish_all(queue_remove(&server->queue, is_over, NULL));
        workers_stop(&server->workers, why_over, NULL);
    }
    if (is_time(&watch->reaped_ns, now, SEC)) {
        http_reap(server->http);
        store_tick(&server->store, now);
    }
    if (is_time(&watch->trimmed_ns, now, TRIM_NS)) {
        blocks_trim(&server->blocks);
        watch->is_slack = heap_is_slack(&watch->heap);
    }
    if (watch->is_slack && http_requests(server->http) == 0) {
        heap_trim(&watch->heap);
        watch->is_slack = false;
    }
}

void watch_end_all(struct server *server)
{
    finish_turns(server, is_turn_stopped);
    finish_all(queue_remove(&server->queue, is_stopped, NULL));
    workers_stop(&server->workers, why_stopped, NULL);
}
