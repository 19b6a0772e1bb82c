#include "server/files/change.h"

#include "server/base/clock.h"
#include "server/files/share.h"
#include "server/files/snapshot.h"

/* A change that is not on the disk yet holds for this process, but a machine that dies may undo
 * it. */
static void sync_or_tell(struct files *files)
{
    struct error error;
    if (folder_sync(&files->folder, &error) != ERROR_NONE)
        log_say(files->log, LOG_ERROR, "a change may not outlive the machine", "error",
                error.message);
}

static enum error_code drop_file(struct files *files, const char *name, struct error *error)
{
    char file[FILE_NAME_MAX + 1];
    folder_file_of(file, name);
    enum error_code code = folder_remove(&files->folder, file, error);
    if (code == ERROR_NONE)
        sync_or_tell(files);
    return code;
}

enum error_code files_drop(struct files *files, struct turn *turn, int place, struct error *error)
{
    const struct named *named = turn->places[place].named;
    int locked;
    pthread_mutex_lock(&files->commit);
    enum error_code code = share_lock(files, named->name, &named->lease, &locked, error);
    if (code == ERROR_NONE && named->has_file)
        code = drop_file(files, named->name, error);
    lease_unlock(locked);
    if (code == ERROR_NONE)
        store_drop(files->store, turn, place);
    pthread_mutex_unlock(&files->commit);
    return code;
}

/* Under `commit`. The resident's own file is renamed; else `file`, if it was written, gets the
 * name.
 */
static enum error_code move_file(struct files *files, const struct named *source,
                                 const struct named *target, struct new_file *file,
                                 struct error *error)
{
    char from[FILE_NAME_MAX + 1], to[FILE_NAME_MAX + 1];
    enum error_code code = ERROR_NONE;
    folder_file_of(from, source->name);
    folder_file_of(to, target->name);
    if (source->has_file)
        code = folder_rename(&files->folder, from, to, error);
    if (source->has_file && file->fd >= 0)
        folder_discard(&files->folder, file);
    else if (file->fd >= 0)
        code = folder_replace(&files->folder, file, error);
    if (code == ERROR_NONE)
        sync_or_tell(files);
    return code;
}

/* A refreshed table that is in no file yet must not leave the name without one. */
static bool must_be_written(struct files *files, const struct named *source,
                            const struct named *target)
{
    pthread_mutex_lock(&files->commit);
    bool must = !source->has_file && target->has_file;
    pthread_mutex_unlock(&files->commit);
    return must;
}

static enum error_code write_moved(struct files *files, struct turn *turn, int from, int to,
                                   struct new_file *file, const char *target, struct error *error)
{
    struct snapshot snapshot;
    if (snapshot_take(&snapshot, files, turn, (struct taken){from, to}, false, error) != ERROR_NONE)
        return error->code;
    enum error_code code = snapshot_write_new(&snapshot, files, file, target, NULL, error);
    snapshot_release(&snapshot, files);
    return code;
}

static enum error_code lock_both(struct files *files, const struct named *source,
                                 const struct named *target, int *locked, struct error *error)
{
    locked[1] = -1;
    enum error_code code = share_lock(files, source->name, &source->lease, &locked[0], error);
    return code ? code : share_lock(files, target->name, &target->lease, &locked[1], error);
}

enum error_code files_move(struct files *files, struct turn *turn, int from, int to,
                           const struct position *position, struct error *error)
{
    const struct named *source = turn->places[from].named, *target = turn->places[to].named;
    struct new_file file = {.fd = -1};
    char to_file[FILE_NAME_MAX + 1];
    folder_file_of(to_file, target->name);
    if (must_be_written(files, source, target) &&
        write_moved(files, turn, from, to, &file, to_file, error) != ERROR_NONE)
        return error->code;
    int locked[2];
    pthread_mutex_lock(&files->commit);
    enum error_code code = lock_both(files, source, target, locked, error);
    if (code == ERROR_NONE)
        code = move_file(files, source, target, &file, error);
    else if (file.fd >= 0)
        folder_discard(&files->folder, &file);
    lease_unlock(locked[0]);
    lease_unlock(locked[1]);
    if (code == ERROR_NONE)
        store_move(files->store, turn, from, to, position, clock_ns());
    pthread_mutex_unlock(&files->commit);
    return code;
}
