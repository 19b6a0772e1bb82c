#include "server/life/life.h"

#include "server/base/clock.h"
#include "server/base/version.h"
#include "server/http/http.h"
#include "server/life/greet.h"
#include "server/life/keeper.h"
#include "server/life/watch.h"
#include "server/net/systemd.h"

#include <fcntl.h>
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
    struct keeper keeper;
    const struct config_sources *sources;
    uint64_t watchdog_ns, told_ns; /* period (0: there is no watchdog), and when last told */
    bool is_hurried;               /* a second signal came: all waits end */
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

/* Opens standard streams that are closed: otherwise a socket gets such a number, and its client the
 * log. */
static void open_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

void life_prepare_process(void)
{
    sigset_t set = signals();
    struct rlimit files;
    open_standard_streams();
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that grows beyond its limit is a write that fails */
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

static void log_fault(void *log, const struct error *fault)
{
    log_say(log, LOG_ERROR, "settings kept", "error", fault->message);
}

/* The new settings are taken whole or not at all. */
static void reload(struct life *life)
{
    struct server *server = &life->server;
    struct config next;
    if (!config_load(&next, life->sources, log_fault, &server->log))
        return;
    config_reload(&server->config, &next, log_ignored, &server->log);
    log_set_level(&server->log, (enum log_level)server->config.log_level);
    access_reload(&server->access, log_kept, &server->log);
    log_say(&server->log, LOG_INFO, "settings loaded", NULL, NULL);
}

/* The main loop feeds systemd's watchdog: if the loop hangs, systemd restarts the process. */
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
    if (life->server.phase == PHASE_READY || life->server.phase == PHASE_LEAVING)
        keeper_tick(&life->keeper, clock_ns());
    tell_watchdog(life);
    return signal == SIGTERM || signal == SIGINT;
}

static void set_phase(struct life *life, enum phase phase, const char *message)
{
    life->server.phase = phase;
    log_say(&life->server.log, LOG_INFO, message, NULL, NULL);
}

/* Ticks until `is_done` says true, or `ns` have passed, or a signal comes. False: not done. */
static bool wait_until(struct life *life, bool (*is_done)(struct http *http), uint64_t ns)
{
    uint64_t end = clock_ns() + ns;
    while (!is_done(life->server.http)) {
        if (life->is_hurried || clock_ns() >= end)
            return false;
        life->is_hurried = await_signal(life, FAST_TICK_MS);
    }
    return true;
}

static bool never(struct http *http)
{
    (void)http;
    return false;
}

static bool none_suspended(struct http *http)
{
    return http_suspended(http) == 0;
}

static void drain_server(struct life *life)
{
    struct server *server = &life->server;
    systemd_notify("STOPPING=1");
    set_phase(life, PHASE_LEAVING, "leaving: not ready, still serving");
    wait_until(life, never, server->config.drain_delay);
    http_stop_accepting(server->http);
    listeners_close(&life->listeners);
    set_phase(life, PHASE_DRAINING, "draining");
    if (wait_until(life, http_is_quiet, server->config.drain_timeout))
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
    wait_until(life, http_is_quiet, SEC);
}

/* While tensors are loaded or saved systemd is told to wait. */
static void tell_alive(void *context)
{
    tell_watchdog(context);
    systemd_notify("EXTEND_TIMEOUT_USEC=120000000");
}

/* Whether a load of tensors goes on; called between its pieces. */
static bool go_on(void *context)
{
    struct life *life = context;
    tell_alive(life);
    life->is_hurried = await_signal(life, 0);
    return !life->is_hurried;
}

/* Ends a start that was broken off: nothing was served yet. */
static void end_start(struct life *life)
{
    http_stop_accepting(life->server.http);
    listeners_close(&life->listeners);
    set_phase(life, PHASE_STOPPING, "ending before the start");
    life->is_hurried = false;
    wait_until(life, http_is_quiet, SEC);
    server_end(&life->server);
    log_release(&life->server.log);
}

void life_report(void *context, const struct error *fault)
{
    (void)context;
    fprintf(stderr, TENSORD_NAME ": %s\n", fault->message);
}

int life_fail(const struct error *error)
{
    life_report(NULL, error);
    return EXIT_FAILURE;
}

int life_serve(const struct config_sources *sources)
{
    struct life life = {.sources = sources, .watchdog_ns = systemd_watchdog_ns()};
    struct server *server = &life.server;
    struct error error;
    error_clear(&error);
    if (!config_load(&server->config, sources, life_report, NULL))
        return EXIT_FAILURE;
    if (log_init(&server->log, STDOUT_FILENO, server->config.log_buffer, &error) != ERROR_NONE)
        return life_fail(&error);
    log_set_level(&server->log, (enum log_level)server->config.log_level);
    log_say(&server->log, LOG_INFO, "starting", "version", TENSORD_VERSION);
    if (server_start(server, &life.listeners, &error) != ERROR_NONE) {
        log_release(&server->log);
        listeners_close(&life.listeners);
        access_release(&server->access);
        return life_fail(&error);
    }
    watch_init(&life.watch, server);
    keeper_init(&life.keeper, server);
    if (files_load(&server->files, go_on, &life, &error) != ERROR_NONE) {
        end_start(&life);
        return error.code == ERROR_CANCELLED ? EXIT_SUCCESS : life_fail(&error);
    }
    server_ready(server);
    greet_terminal(server, &life.listeners);
    while (!await_signal(&life, life.watch.tick_ms) && !gpus_are_missed(&server->gpus))
        continue;
    drain_server(&life);
    bool failed = !keeper_finish(&life.keeper, tell_alive, &life) || gpus_are_missed(&server->gpus);
    server_end(server);
    log_release(&server->log);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
