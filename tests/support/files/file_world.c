#include "tests/support/files/file_world.h"

#include "server/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 128, MOST_KEYS = 8, LOG_BYTES = 64 * 1024 };

#define NEED(STATEMENT) need(STATEMENT, #STATEMENT)

static void need(bool is_so, const char *statement)
{
    if (is_so)
        return;
    fprintf(stderr, "file_world: it is not so that %s\n", statement);
    abort();
}

void file_world_open(struct file_world *w, const char *folder, int log_fd)
{
    struct error error;
    config_init(&w->config);
    NEED(config_set(&w->config, "tensor_dir", folder, &error) == ERROR_NONE);
    NEED(config_set(&w->config, "tensor_memory", "4M", &error) == ERROR_NONE);
    NEED(config_set(&w->config, "tensors_max", "128", &error) == ERROR_NONE);
    blocks_init(&w->blocks, 0);
    budget_init(&w->budget, 4 * MIB);
    clients_init(&w->clients, 0);
    store_init(&w->store, &(struct store_setup){.blocks = &w->blocks,
                                                .clients = &w->clients,
                                                .memory = 4 * MIB,
                                                .most = MOST,
                                                .most_keys = MOST_KEYS});
    NEED(log_init(&w->log, log_fd, LOG_BYTES, &error) == ERROR_NONE);
    files_init(&w->files,
               &(struct files_setup){
                   .store = &w->store, .blocks = &w->blocks, .budget = &w->budget, .log = &w->log});
}

void file_world_close(struct file_world *w)
{
    files_release(&w->files);
    NEED(budget_used(&w->budget) == 0);
    store_release(&w->store);
    clients_release(&w->clients);
    blocks_release(&w->blocks);
    log_release(&w->log);
}

static bool go_on(void *context)
{
    (void)context;
    return true;
}

enum error_code file_world_load(struct file_world *w, struct error *error)
{
    enum error_code code = files_open(&w->files, &w->config, error);
    return code ? code : files_load(&w->files, go_on, NULL, error);
}

void file_world_restart(struct file_world *w, const char *folder, int log_fd)
{
    struct error error;
    file_world_close(w);
    file_world_open(w, folder, log_fd);
    NEED(file_world_load(w, &error) == ERROR_NONE);
}

void file_world_take(struct file_world *w, struct turn *turn, const char *name)
{
    struct error error;
    enum turn_state entered;
    const struct line_bounds wide = {1, SIZE_MAX};
    *turn = (struct turn){.state = TURN_OUT};
    NEED(store_join(&w->store, turn, name, true) == 0);
    NEED(store_enter(&w->store, turn, &wide, false, clock_ns(), &entered, &error) == ERROR_NONE);
    NEED(entered == TURN_HELD);
}

void file_world_leave(struct file_world *w, struct turn *turn)
{
    store_leave(&w->store, turn, clock_ns());
}

void file_world_put(struct file_world *w, const char *name, const char *bytes)
{
    struct error error;
    struct turn turn;
    const struct holder nobody = {.client = NULL};
    const struct tensor tensor = {
        .dtype = DTYPE_INT8, .rank = 1, .shape = {(int64_t)strlen(bytes)}};
    file_world_take(w, &turn, name);
    struct resident *r = store_make(&w->store, &turn, 0, &tensor, &nobody, &error);
    NEED(r && (r->block = store_block(&w->store, r->bytes, &error)));
    r->tensor.data = memcpy(r->block->bytes, bytes, r->bytes);
    store_install(&w->store, &turn, 0, r, clock_ns());
    file_world_leave(w, &turn);
}

enum error_code file_world_save(struct file_world *w, const char *name, const atomic_bool *stop,
                                struct error *error)
{
    struct turn turn;
    struct snapshot snapshot;
    file_world_take(w, &turn, name);
    enum error_code code =
        snapshot_take(&snapshot, &w->files, &turn, (struct taken){0, 0}, true, error);
    file_world_leave(w, &turn);
    if (code != ERROR_NONE)
        return code;
    NEED(snapshot.copy || snapshot.bytes == 0);
    code = snapshot_write(&snapshot, &w->files, stop, error);
    snapshot_release(&snapshot, &w->files);
    return code;
}
