#include "server/server.h"

#include "server/http/http.h"
#include "server/http/process.h"
#include "server/life/selftest.h"
#include "server/net/systemd.h"

#include <stdio.h>
#include <string.h>

/* A long snapshot does not hold up another name's. */
enum { FILE_WORKERS = 2 };

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

static enum error_code start_parts(struct server *server, const struct listeners *listeners,
                                   struct error *error)
{
    const struct config *config = &server->config;
    size_t memory = config->memory ? config->memory : budget_of_machine();
    int cores = or_automatic(config->cores, cores_of_machine());
    server->backend = &backend_cpu;
    blocks_init(&server->blocks, config->memory_cache ? config->memory_cache : memory / 4);
    budget_init(&server->budget, memory);
    cores_init(&server->cores, cores);
    machine_read(&server->machine);
    queue_init(&server->queue, config->queue_bytes ? config->queue_bytes : memory);
    int http_threads = or_automatic(config->http_threads, cores > 1 ? 2 : 1);
    if (access_init(&server->access, config, memory, listeners_have(listeners, true), error) !=
            ERROR_NONE ||
        metrics_init(&server->metrics, http_daemons(listeners, http_threads), error) !=
            ERROR_NONE ||
        start_gpus(server, error) != ERROR_NONE)
        return error->code;
    struct store_setup kept = {
        .blocks = &server->blocks,
        .clients = &server->access.clients,
        .memory = config->tensor_memory == CONFIG_AUTO ? store_memory_of_machine()
                                                       : config->tensor_memory,
        .most = (int)config->tensors_max,
        .most_keys = (int)config->tensor_keys,
        .is_lazy = *config->tensor_dir && config->tensor_load == LOAD_AT_FIRST_USE};
    store_init(&server->store, &kept);
    files_init(&server->files, &(struct files_setup){.store = &server->store,
                                                     .blocks = &server->blocks,
                                                     .budget = &server->budget,
                                                     .log = &server->log});
    if (files_open(&server->files, config, error) != ERROR_NONE)
        return error->code;
    struct workers_setup setup = {.count = or_automatic(config->workers, cores),
                                  .wide = (int)config->wide_workers,
                                  .files = files_exist(&server->files) ? FILE_WORKERS : 0,
                                  .queue = &server->queue,
                                  .cores = &server->cores,
                                  .backend = server->backend,
                                  .gpus = &server->gpus,
                                  .log = &server->log,
                                  .machine = &server->machine};
    if (workers_init(&server->workers, &setup, error) != ERROR_NONE)
        return error->code;
    return http_new(&server->http, server, listeners, http_threads, error);
}

/* Sockets from systemd take the place of the setting `listen`. */
static enum error_code open_listeners(const struct server *server, struct listeners *listeners,
                                      struct error *error)
{
    if (systemd_listeners(listeners, error) != ERROR_NONE)
        return error->code;
    return listeners->count > 0 ? ERROR_NONE
                                : listeners_open(listeners, server->config.listen, error);
}

/* For people who read the log of a start: what to open. */
static void log_page(struct server *server, const struct listener *listener)
{
    const struct config *config = &server->config;
    char url[LISTENER_NAME_MAX + sizeof config->base_path + sizeof "https:///"];
    if (!config->console || listener->is_unix)
        return;
    snprintf(url, sizeof url, "%s://%s%s/", listener->is_tls ? "https" : "http",
             listener->address + (listener->is_tls ? strlen("tls:") : 0), config->base_path);
    log_say(&server->log, LOG_INFO, "its page", "url", url);
}

static void log_listeners(struct server *server, const struct listeners *listeners)
{
    for (int i = 0; i < listeners->count; i++) {
        const struct listener *listener = &listeners->list[i];
        log_say(&server->log, LOG_INFO, "listening", "address", listener->address);
        log_page(server, listener);
        if (access_is_open(&server->access, listener))
            log_say(&server->log, LOG_WARN,
                    "a public address without TLS and tokens: whoever reaches it may compute",
                    "address", listener->address);
    }
}

enum error_code server_start(struct server *server, struct listeners *listeners,
                             struct error *error)
{
    server->phase = PHASE_STARTING;
    server->start_seconds = process_start();
    if (open_listeners(server, listeners, error) != ERROR_NONE ||
        start_parts(server, listeners, error) != ERROR_NONE ||
        selftest(server, server->backend, 0, 0, error) != ERROR_NONE)
        return error->code;
    if (!server->files.catalog)
        server->phase = PHASE_READY;
    if (http_accept(server->http, listeners, error) != ERROR_NONE)
        return error->code;
    log_listeners(server, listeners);
    return ERROR_NONE;
}

void server_ready(struct server *server)
{
    server->phase = PHASE_READY;
    systemd_notify("READY=1");
}

void server_end(struct server *server)
{
    http_free(server->http);
    queue_close(&server->queue);
    workers_release(&server->workers);
    queue_release(&server->queue);
    files_release(&server->files);
    store_release(&server->store);
    blocks_release(&server->blocks);
    access_release(&server->access);
    metrics_release(&server->metrics);
    log_say(&server->log, LOG_INFO, "stopped", NULL, NULL);
}
