/* Loading what is first asked for. A name is looked up each time while nothing is resident, or
 * another server may write it: the folder is the only list of what it holds. */
#include "server/files/catalog.h"
#include "server/files/load.h"
#include "server/files/saved.h"
#include "server/files/share.h"
#include "server/tensors/store_share.h"

#include <string.h>

/* A file, and which of its tensors. */
struct found {
    struct reader reader;
    const struct safetensors_entry *entry; /* NULL: there is none */
    char file[FILE_NAME_MAX + 1];
};

/* A file's only tensor is called as the file, whatever its name there. */
static const struct safetensors_entry *find_entry(const struct safetensors_file *file,
                                                  const char *tensor)
{
    if (!tensor)
        return file->count == 1 ? file->entries : NULL;
    for (int i = 0; i < file->count && file->count > 1; i++)
        if (strcmp(file->entries[i].name, tensor) == 0)
            return &file->entries[i];
    return NULL;
}

/* Looks for a tensor in the file `stem`; NULL `tensor`: for the file's only one. */
static enum error_code look_in(struct found *found, struct files *files, const char *stem,
                               const char *tensor, struct error *error)
{
    folder_file_of(found->file, stem);
    enum error_code code = reader_open(&found->reader, &files->folder, found->file, files->blocks,
                                       files->budget, error);
    if (code == ERROR_NOT_FOUND) {
        error_clear(error);
        return ERROR_NONE;
    }
    if (code != ERROR_NONE)
        return code;
    found->entry = find_entry(&found->reader.file, tensor);
    if (!found->entry)
        reader_close(&found->reader);
    return ERROR_NONE;
}

/* a.b.c is a file of its own, else c of the file a.b, else b.c of the file a. */
static enum error_code find(struct found *found, struct files *files, const char *name,
                            struct error *error)
{
    char stem[TENSOR_NAME_MAX + 1];
    strcpy(stem, name);
    found->entry = NULL;
    enum error_code code = look_in(found, files, stem, NULL, error);
    for (char *dot; code == ERROR_NONE && !found->entry && (dot = strrchr(stem, '.'));) {
        *dot = '\0';
        code = look_in(found, files, stem, name + (dot - stem) + 1, error);
    }
    return code;
}

/* The client is told of a file that is damaged as of one that cannot be written: it can do nothing
 * about either. */
static enum error_code explain(const char *name, struct error *error)
{
    char message[ERROR_MESSAGE_MAX];
    if (error->code != ERROR_INVALID_PARAMETER)
        return error->code;
    memcpy(message, error->message, sizeof message);
    return error_set(error, ERROR_TENSOR_FILE_FAILED, NULL, "cannot load the tensor '%s': %.450s",
                     name, message);
}

/* The resident is of the file that the name has. */
static bool is_loaded(const struct named *named, const struct found *found)
{
    return found->entry && named->resident &&
           memcmp(&named->stamp, &found->reader.stamp, sizeof named->stamp) == 0;
}

static enum error_code load_found(const struct load *load, const struct found *found,
                                  struct turn *turn, int place, struct error *error)
{
    struct named *named = turn->places[place].named;
    if (is_loaded(named, found))
        return ERROR_NONE;
    if (named->resident)
        store_unload(load->files->store, turn, place);
    if (!found->entry)
        return ERROR_NONE;
    enum error_code code = load_tensor(load, &found->reader, found->entry, turn, place, error);
    named->stamp = found->reader.stamp;
    return code == ERROR_NONE || code == ERROR_CANCELLED ? code : reader_blame(found->file, error);
}

static enum error_code find_and_load(const struct load *load, struct turn *turn, int place,
                                     struct error *error)
{
    struct found found;
    enum error_code code = find(&found, load->files, turn->places[place].named->name, error);
    if (code == ERROR_NONE)
        code = load_found(load, &found, turn, place, error);
    if (found.entry)
        reader_close(&found.reader);
    return code;
}

static enum error_code prepare(struct load *load, struct turn *turn, int place, struct error *error)
{
    struct taken_lease taken = {.is_lost = false};
    enum settled settled = SETTLED_ASKED;
    enum error_code code = ERROR_NONE;
    if (load->files->is_shared)
        code = share_settle(load->files, turn, place, &taken, &settled, error);
    load->is_copy = settled == SETTLED_COPY;
    load->etag_left = load->files->is_shared ? taken.etag : NULL;
    if (code == ERROR_NONE && settled != SETTLED_KNOWN)
        code = find_and_load(load, turn, place, error);
    turn->places[place].is_prepared = code == ERROR_NONE;
    return code == ERROR_NONE ? code : explain(turn->places[place].named->name, error);
}

enum error_code files_prepare(struct files *files, struct turn *turn, bool (*go_on)(void *context),
                              void *context, struct error *error)
{
    struct load load = {.files = files, .go_on = go_on, .context = context};
    for (int i = 0; i < turn->count; i++)
        if (turn->places[i].is_alone && !store_place_is_ready(files->store, turn, i) &&
            prepare(&load, turn, i, error) != ERROR_NONE)
            return error->code;
    return ERROR_NONE;
}

enum dtype files_dtype(struct files *files, const char *name)
{
    struct found found;
    struct error error;
    error_clear(&error);
    if (find(&found, files, name, &error) != ERROR_NONE || !found.entry)
        return DTYPE_NONE;
    enum dtype dtype = found.entry->tensor.dtype;
    reader_close(&found.reader);
    return dtype;
}
