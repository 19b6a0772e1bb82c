#include "server/life.h"

#include "server/clock.h"
#include "server/http.h"
#include "server/selftest.h"
#include "server/systemd.h"
#include "server/version.h"
#include "server/watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* How long a running job gets to notice that it must stop. */
#define LAST_WAIT_NS (5 * SEC)

enum { FAST_TICK_MS = 5 };

struct life {
    struct server server;
    struct listeners listeners;
    struct watch watch;
    const struct command *command;
    uint64_t watchdog_ns, told_ns; /* how often, and when last; 0: there is no watchdog */
    bool is_hurried;               /* a second signal cuts the waits */
};

static sigset_t signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    return set;
}

void life_prepare_process(void)
{
    sigset_t set = signals();
    struct rlimit files;
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

static void log_ignored(void *log, const struct setting *setting)
{
    log_say(log, LOG_WARN, "setting needs a restart", "setting", setting->name);
}

static void log_kept(void *log, const struct error *error)
{
    log_say(log, LOG_ERROR, "tokens or certificates kept", "error", error->message);
}

/* The new settings are taken whole or not at all. */
static void reload(struct life *life)
{
    struct server *server = &life->server;
    struct config next;
    struct error error;
    if (config_load(&next, life->command, &error) != ERROR_NONE) {
        log_say(&server->log, LOG_ERROR, "settings kept", "error", error.message);
        return;
    }
    config_reload(&server->config, &next, log_ignored, &server->log);
    log_set_level(&server->log, (enum log_level)server->config.log_level);
    access_reload(&server->access, log_kept, &server->log);
    log_say(&server->log, LOG_INFO, "settings loaded", NULL, NULL);
}

/* This thread turns everything that must not get stuck: as long as it does, the process lives. */
static void tell_watchdog(struct life *life)
{
    uint64_t now = clock_ns();
    if (life->watchdog_ns == 0 || now - life->told_ns < life->watchdog_ns)
        return;
    life->told_ns = now;
    systemd_notify("WATCHDOG=1");
}

/* Waits for a signal, `ms` at most; true when it asks for the end. */
static bool await_signal(struct life *life, long ms)
{
    sigset_t set = signals();
    struct timespec tick = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    int signal = sigtimedwait(&set, NULL, &tick);
    if (signal == SIGHUP)
        reload(life);
    watch_tick(&life->watch);
    tell_watchdog(life);
    return signal == SIGTERM || signal == SIGINT;
}

static void set_phase(struct life *life, enum phase phase, const char *message)
{
    life->server.phase = phase;
    log_say(&life->server.log, LOG_INFO, message, NULL, NULL);
}

/* Ticks until `is_done`, or `ns` have passed, or a signal comes. */
static bool wait_until(struct life *life, bool (*is_done)(const struct http *http), uint64_t ns)
{
    uint64_t end = clock_ns() + ns;
    while (!is_done(life->server.http)) {
        if (life->is_hurried || clock_ns() >= end)
            return false;
        life->is_hurried = await_signal(life, FAST_TICK_MS);
    }
    return true;
}

static bool never(const struct http *http)
{
    (void)http;
    return false;
}

static bool all_answered(const struct http *http)
{
    return http_requests(http) == 0;
}

static bool none_suspended(const struct http *http)
{
    return http_suspended(http) == 0;
}

static void drain(struct life *life)
{
    struct server *server = &life->server;
    systemd_notify("STOPPING=1");
    set_phase(life, PHASE_LEAVING, "leaving: not ready, still serving");
    wait_until(life, never, server->config.drain_delay);
    http_stop_accepting(server->http);
    listeners_close(&life->listeners);
    set_phase(life, PHASE_DRAINING, "draining");
    if (wait_until(life, all_answered, server->config.drain_timeout))
        return;
    set_phase(life, PHASE_STOPPING, "drain_timeout is over: ending what is left");
    queue_close(&server->queue);
    life->is_hurried = false;
    for (uint64_t end = clock_ns() + LAST_WAIT_NS; http_suspended(server->http) > 0;) {
        watch_end_all(server);
        if (clock_ns() >= end) {
            log_say(&server->log, LOG_ERROR, "a job does not end", NULL, NULL);
            log_release(&server->log);
            _exit(1);
        }
        wait_until(life, none_suspended, 20 * MSEC);
    }
    wait_until(life, all_answered, SEC);
}

static int or_automatic(uint64_t setting, int automatic)
{
    return setting ? (int)setting : automatic;
}

/* A device that does not compute right is worse than none: with `device` auto the CPU serves. */
static enum error_code test_gpus(struct server *server, struct error *error)
{
    struct gpus *gpus = &server->gpus;
    for (int i = 0; i < gpus->count; i++)
        if (selftest(server, gpus->backend, gpus->list[i].device, gpus->list[i].lane_bytes,
                     error) != ERROR_NONE)
            return gpus_give_up(gpus, error);
    return ERROR_NONE;
}

static enum error_code start_gpus(struct server *server, struct error *error)
{
    struct gpus *gpus = &server->gpus;
    char count[16];
    if (gpus_init(gpus, &server->config, backend_cuda(), error) != ERROR_NONE ||
        test_gpus(server, error) != ERROR_NONE)
        return error->code;
    if (gpus_are_preferred(gpus))
        blocks_pin(&server->blocks, gpus->backend, server->config.cuda_threshold);
    snprintf(count, sizeof count, "%d", gpus->count);
    if (gpus->count > 0)
        log_say(&server->log, LOG_INFO, "CUDA devices in use", "devices", count);
    else
        log_say(&server->log, LOG_INFO, "computing on the CPU alone", "reason", gpus->absence);
    return ERROR_NONE;
}

static enum error_code start_parts(struct life *life, struct error *error)
{
    struct server *server = &life->server;
    const struct config *config = &server->config;
    size_t memory = config->memory ? config->memory : budget_of_machine();
    int cores = or_automatic(config->cores, cores_of_machine());
    server->backend = &backend_cpu;
    blocks_init(&server->blocks, config->memory_cache ? config->memory_cache : memory / 4);
    budget_init(&server->budget, memory);
    cores_init(&server->cores, cores);
    queue_init(&server->queue, config->queue_bytes ? config->queue_bytes : memory);
    int http_threads = or_automatic(config->http_threads, cores > 1 ? 2 : 1);
    if (access_init(&server->access, config, memory, listeners_have(&life->listeners, true),
                    error) != ERROR_NONE ||
        metrics_init(&server->metrics, http_daemons(&life->listeners, http_threads), error) !=
            ERROR_NONE ||
        start_gpus(server, error) != ERROR_NONE)
        return error->code;
    struct workers_setup setup = {.count = or_automatic(config->workers, cores),
                                  .wide = (int)config->wide_workers,
                                  .queue = &server->queue,
                                  .cores = &server->cores,
                                  .backend = server->backend,
                                  .gpus = &server->gpus,
                                  .log = &server->log};
    if (workers_init(&server->workers, &setup, error) != ERROR_NONE)
        return error->code;
    return http_new(&server->http, server, &life->listeners, http_threads, error);
}

/* Sockets from systemd stand in for those of the settings. */
static enum error_code open_listeners(struct life *life, struct error *error)
{
    struct listeners *listeners = &life->listeners;
    if (systemd_listeners(listeners, error) != ERROR_NONE)
        return error->code;
    return listeners->count > 0 ? ERROR_NONE
                                : listeners_open(listeners, life->server.config.listen, error);
}

static void log_listeners(struct life *life)
{
    struct server *server = &life->server;
    for (int i = 0; i < life->listeners.count; i++) {
        const struct listener *listener = &life->listeners.list[i];
        log_say(&server->log, LOG_INFO, "listening", "address", listener->address);
        if (access_is_open(&server->access, listener))
            log_say(&server->log, LOG_WARN,
                    "a public address without TLS and tokens: whoever reaches it may compute",
                    "address", listener->address);
    }
}

static enum error_code start(struct life *life, struct error *error)
{
    struct server *server = &life->server;
    server->phase = PHASE_STARTING;
    if (open_listeners(life, error) != ERROR_NONE || start_parts(life, error) != ERROR_NONE ||
        selftest(server, server->backend, 0, 0, error) != ERROR_NONE ||
        http_accept(server->http, &life->listeners, error) != ERROR_NONE)
        return error->code;
    server->phase = PHASE_READY;
    systemd_notify("READY=1");
    log_listeners(life);
    return ERROR_NONE;
}

static void end(struct life *life)
{
    struct server *server = &life->server;
    http_free(server->http);
    queue_close(&server->queue);
    workers_release(&server->workers);
    queue_release(&server->queue);
    blocks_release(&server->blocks);
    access_release(&server->access);
    metrics_release(&server->metrics);
    log_say(&server->log, LOG_INFO, "stopped", NULL, NULL);
    log_release(&server->log);
}

static int fail(const struct error *error)
{
    fprintf(stderr, TENSORD_NAME ": %s\n", error->message);
    return EXIT_FAILURE;
}

int life_serve(const struct command *command)
{
    struct life life = {.command = command, .watchdog_ns = systemd_watchdog_ns()};
    struct server *server = &life.server;
    struct error error;
    error_clear(&error);
    if (config_load(&server->config, command, &error) != ERROR_NONE ||
        log_init(&server->log, STDOUT_FILENO, server->config.log_buffer, &error) != ERROR_NONE)
        return fail(&error);
    log_set_level(&server->log, (enum log_level)server->config.log_level);
    log_say(&server->log, LOG_INFO, "starting", "version", TENSORD_VERSION);
    if (start(&life, &error) != ERROR_NONE) {
        log_say(&server->log, LOG_ERROR, "cannot start", "error", error.message);
        log_release(&server->log);
        listeners_close(&life.listeners);
        access_release(&server->access);
        return fail(&error);
    }
    watch_init(&life.watch, server);
    while (!await_signal(&life, WATCH_TICK_MS) && !gpus_are_missed(&server->gpus))
        continue;
    drain(&life);
    bool failed = gpus_are_missed(&server->gpus);
    end(&life);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
