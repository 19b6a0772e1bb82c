#include "server/files/files.h"

#include "server/base/clock.h"
#include "server/files/catalog.h"
#include "server/files/clean.h"
#include "server/files/share.h"
#include "server/tensors/store_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A temporary of another server that shares the folder is written to meanwhile. */
enum { SWEEP_AGE_S = 600 };
#define SWEEP_ALL ((time_t)INT64_MAX)

void files_init(struct files *files, const struct files_setup *setup)
{
    *files = (struct files){.folder = {.fd = -1},
                            .store = setup->store,
                            .blocks = setup->blocks,
                            .budget = setup->budget,
                            .log = setup->log};
    pthread_mutex_init(&files->commit, NULL);
}

static void forget_catalog(struct files *files)
{
    if (files->catalog)
        catalog_release(files->catalog);
    free(files->catalog);
    files->catalog = NULL;
}

void files_release(struct files *files)
{
    share_close(files);
    forget_catalog(files);
    free(files->clean);
    folder_close(&files->folder);
    pthread_mutex_destroy(&files->commit);
}

static size_t memory_of(const struct config *config)
{
    return config->tensor_memory == CONFIG_AUTO ? store_memory_of_machine() : config->tensor_memory;
}

static enum error_code check_settings(const struct config *config, struct error *error)
{
    if (config->tensor_share && (!*config->tensor_dir || config->tensor_load != LOAD_AT_FIRST_USE))
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "tensor_share needs tensor_dir, and tensor_load = first_use");
    if (!*config->tensor_dir || memory_of(config) > 0)
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "tensor_dir is set, but tensor_memory is 0: nothing may be kept");
}

/* Whether all tensors of the folder may be kept. */
static enum error_code check_bounds(const struct catalog *catalog, const struct config *config,
                                    struct error *error)
{
    size_t memory = memory_of(config);
    if (catalog->cost > memory)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "tensor_dir: its tensors need %zu bytes; tensor_memory is %zu",
                         catalog->cost, memory);
    if (catalog->count > config->tensors_max)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "tensor_dir: it has %zu tensors; tensors_max is %llu", catalog->count,
                         (unsigned long long)config->tensors_max);
    return ERROR_NONE;
}

static enum error_code look(struct files *files, const struct config *config, struct error *error)
{
    files->catalog = calloc(1, sizeof *files->catalog);
    if (!files->catalog)
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for a list of files");
    enum error_code code =
        catalog_read(files->catalog, &files->folder, files->blocks, files->budget, error);
    if (code != ERROR_NONE || config->tensor_load == LOAD_AT_FIRST_USE)
        return code;
    return check_bounds(files->catalog, config, error);
}

/* At first use each file is looked at by itself. */
static enum error_code look_for_load(struct files *files, const struct config *config,
                                     struct error *error)
{
    if (config->tensor_load == LOAD_AT_FIRST_USE)
        return ERROR_NONE;
    if (look(files, config, error) != ERROR_NONE)
        return error->code;
    files->load_count = files->catalog->count;
    for (size_t i = 0; i < files->catalog->count; i++)
        files->load_bytes += files->catalog->items[i].bytes;
    return ERROR_NONE;
}

enum error_code files_open(struct files *files, const struct config *config, struct error *error)
{
    enum folder_use use = config->tensor_share ? FOLDER_SHARED : FOLDER_OWN;
    if (check_settings(config, error) != ERROR_NONE || !*config->tensor_dir ||
        folder_open(&files->folder, config->tensor_dir, use, error) != ERROR_NONE)
        return error->code;
    if (look_for_load(files, config, error) != ERROR_NONE) {
        forget_catalog(files);
        folder_close(&files->folder);
        return error->code;
    }
    folder_sweep(&files->folder, config->tensor_share ? time(NULL) - SWEEP_AGE_S : SWEEP_ALL);
    if (files->folder.is_writable)
        files->clean = clean_take(&files->folder);
    if (config->tensor_share)
        return share_open(files, config->tensor_lease, error);
    checkpoint_load(files);
    return ERROR_NONE;
}

enum error_code files_check(const struct config *config, struct error *error)
{
    struct blocks blocks;
    struct budget budget;
    struct files files;
    blocks_init(&blocks, 0);
    budget_init(&budget, config->memory ? config->memory : budget_of_machine());
    files_init(&files, &(struct files_setup){.blocks = &blocks, .budget = &budget});
    enum error_code code = check_settings(config, error);
    if (*config->tensor_dir && code == ERROR_NONE)
        code = folder_open(&files.folder, config->tensor_dir, FOLDER_LOOKED_AT, error);
    if (files_exist(&files))
        code = look(&files, config, error);
    files_release(&files);
    blocks_release(&blocks);
    return code;
}

static bool put_line(const struct resident_view *view, void *context)
{
    if (view->is_saved && !view->is_read_only)
        fprintf(context, "%s %s\n", view->name, view->etag);
    return true;
}

void files_leave_clean(struct files *files)
{
    struct error error;
    char *list = NULL;
    size_t size = 0;
    bool is_own = files->folder.is_writable && !files->is_shared;
    share_close(files);
    FILE *out = is_own ? open_memstream(&list, &size) : NULL;
    if (!out)
        return;
    pthread_mutex_lock(&files->commit);
    checkpoint_pass(files);
    pthread_mutex_unlock(&files->commit);
    fputs(files->clean ? files->clean : "", out);
    store_list(files->store, "", clock_ns(), put_line, out);
    if (fclose(out) == 0 && size > 0 &&
        clean_leave(&files->folder, list, size, &error) != ERROR_NONE)
        log_say(files->log, LOG_WARN, "tensors get new epochs at the next start", "error",
                error.message);
    free(list);
}
