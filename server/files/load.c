/* Loading: what files hold becomes resident. */
#include "server/files/load.h"

#include "server/base/clock.h"
#include "server/files/catalog.h"
#include "server/files/clean.h"
#include "server/files/saved.h"
#include "server/tensors/store_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { PIECE_BYTES = 16 << 20 };

static uint64_t new_epoch(void)
{
    uint32_t epoch = 0;
    while (epoch == 0)
        if (getrandom(&epoch, sizeof epoch, 0) != sizeof epoch)
            epoch = (uint32_t)clock_wall_ns() | 1;
    return epoch;
}

static enum error_code read_data(const struct load *load, const struct reader *reader,
                                 const struct safetensors_entry *entry, char *bytes,
                                 struct error *error)
{
    for (size_t done = 0; done < entry->bytes;) {
        size_t piece = entry->bytes - done < PIECE_BYTES ? entry->bytes - done : PIECE_BYTES;
        if (!load->go_on(load->context))
            return error_set(error, ERROR_CANCELLED, NULL, "the load was ended");
        if (reader_read(reader, entry, bytes + done, piece, done, error) != ERROR_NONE)
            return error->code;
        done += piece;
        atomic_fetch_add(&load->files->loaded_bytes, piece);
    }
    return ERROR_NONE;
}

/* Whether the tag was the last that anybody was told. */
static bool was_last(const struct load *load, const char *name, const char *etag)
{
    struct files *files = load->files;
    if (load->is_copy || load->etag_left)
        return !load->is_copy && strcmp(load->etag_left, etag) == 0;
    pthread_mutex_lock(&files->commit);
    bool was = clean_strike(files->clean, name, etag);
    pthread_mutex_unlock(&files->commit);
    return was;
}

/* The generation of what is loaded under a name that its file does not say: a copy of a tensor's
 * file must not have that tensor's tags. The same for every server that loads it (FNV-1a). */
static uint64_t generation_of_copy(uint64_t generation, const char *name)
{
    for (; *name; name++)
        generation = (generation ^ (unsigned char)*name) * 0x100000001b3;
    return generation;
}

/* What the file says besides the elements. The epoch is new where versions may have been told that
 * the file does not have, or are told while a copy is read: so no tag of them is true again, and
 * who is answered an older state sees that. What is never written has no such versions. */
static enum error_code restore(const struct load *load, const struct reader *reader,
                               const struct safetensors_entry *entry, struct turn *turn, int place,
                               struct resident *resident, struct error *error)
{
    const char *name = turn->places[place].named->name;
    char etag[ETAG_MAX];
    struct saved saved;
    bool is_ours;
    if (saved_read(&saved, &is_ours, &reader->file, error) != ERROR_NONE)
        return error->code;
    resident->is_read_only = !is_ours || !reader->is_writable;
    resident->created_ms = clock_wall_ms();
    if (!is_ours)
        return ERROR_NONE;
    resident->generation = saved.generation;
    resident->epoch = saved.epoch;
    resident->version = saved.version;
    resident_etag(resident, etag);
    bool is_last = was_last(load, name, etag);
    if (!is_last && strcmp(entry->name, name) != 0)
        resident->generation = generation_of_copy(saved.generation, name);
    if (!is_last && !resident->is_read_only) {
        resident->epoch = new_epoch();
        atomic_fetch_add(&load->files->epochs, 1);
    }
    resident->created_ms = saved.created_ms;
    resident->ttl_ns = resident->is_read_only || load->is_copy ? 0 : saved.ttl_ns;
    enum error_code code = saved_positions(&resident->positions, &reader->file, error);
    return code ? code : saved_keys(load->files->store, turn, place, &reader->file, error);
}

static enum error_code make(const struct load *load, const struct reader *reader,
                            const struct safetensors_entry *entry, struct turn *turn, int place,
                            struct resident **resident, struct error *error)
{
    struct store *store = load->files->store;
    *resident =
        store_make(store, turn, place, &entry->tensor, &(struct holder){.client = NULL}, error);
    if (!*resident)
        return error->code;
    (*resident)->block = store_block(store, entry->bytes, error);
    if (!(*resident)->block)
        return error->code;
    (*resident)->tensor.data = (*resident)->block->bytes;
    enum error_code code = read_data(load, reader, entry, (*resident)->block->bytes, error);
    return code ? code : restore(load, reader, entry, turn, place, *resident, error);
}

enum error_code load_tensor(const struct load *load, const struct reader *reader,
                            const struct safetensors_entry *entry, struct turn *turn, int place,
                            struct error *error)
{
    struct files *files = load->files;
    struct resident *resident = NULL;
    enum error_code code = make(load, reader, entry, turn, place, &resident, error);
    if (code == ERROR_NONE) {
        store_adopt(files->store, turn, place, resident, reader->file.count == 1, clock_ns());
        atomic_fetch_add(&files->loaded_count, 1);
    } else if (resident) {
        store_discard(files->store, resident);
    }
    return code;
}

/* --------------------------------------------------------------------------- all, at the start */

static enum error_code load_entry(const struct load *load, const struct reader *reader,
                                  const struct safetensors_entry *entry, const char *name,
                                  struct error *error)
{
    struct store *store = load->files->store;
    struct turn turn = {.state = TURN_OUT};
    enum turn_state state;
    if (store_join(store, &turn, name, true) < 0)
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for its name");
    struct line_bounds bounds = {1, SIZE_MAX};
    enum error_code code = store_enter(store, &turn, &bounds, false, clock_ns(), &state, error);
    if (code == ERROR_NONE)
        code = load_tensor(load, reader, entry, &turn, 0, error);
    store_leave(store, &turn, clock_ns());
    return code;
}

/* Those tensors of a file that the catalogue kept. */
static enum error_code load_file(const struct load *load, const char *file, struct error *error)
{
    struct files *files = load->files;
    struct reader reader;
    char name[TENSOR_NAME_MAX + 1];
    if (reader_open(&reader, &files->folder, file, files->blocks, files->budget, error) !=
        ERROR_NONE)
        return error->code;
    enum error_code code = ERROR_NONE;
    for (int i = 0; i < reader.file.count && code == ERROR_NONE; i++) {
        const struct safetensors_entry *entry = &reader.file.entries[i];
        code = catalog_name(name, file, entry->name, reader.file.count == 1, error);
        if (code != ERROR_NONE)
            break;
        const struct catalog_item *item = catalog_find(files->catalog, name);
        if (item && strcmp(item->file, file) == 0)
            code = load_entry(load, &reader, entry, name, error);
    }
    reader_close(&reader);
    return code == ERROR_NONE || code == ERROR_CANCELLED ? code : reader_blame(file, error);
}

static void log_loaded(const struct files *files, uint64_t start)
{
    struct log_line line;
    log_begin(&line, LOG_INFO, "tensors loaded");
    log_int(&line, "tensors", (int64_t)files->loaded_count);
    log_int(&line, "bytes", (int64_t)files->loaded_bytes);
    log_int(&line, "ms", (int64_t)((clock_ns() - start) / MSEC));
    log_end(&line, files->log);
}

/* Each file once: the first of its tensors stands for it. */
static bool is_first(const struct catalog *catalog, size_t at)
{
    for (size_t i = 0; i < at && !catalog->items[at].is_own; i++)
        if (strcmp(catalog->items[i].file, catalog->items[at].file) == 0)
            return false;
    return true;
}

enum error_code files_load(struct files *files, bool (*go_on)(void *context), void *context,
                           struct error *error)
{
    struct load load = {.files = files, .go_on = go_on, .context = context};
    struct catalog *catalog = files->catalog;
    uint64_t start = clock_ns();
    enum error_code code = ERROR_NONE;
    if (!catalog)
        return ERROR_NONE;
    for (size_t i = 0; i < catalog->count && code == ERROR_NONE; i++)
        if (is_first(catalog, i))
            code = load_file(&load, catalog->items[i].file, error);
    if (code == ERROR_NONE)
        log_loaded(files, start);
    catalog_release(catalog);
    free(catalog);
    files->catalog = NULL;
    return code;
}
