/* What changes a folder: a file is written beside, and takes its name in one step. */
#include "server/files/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a write: between two of them it may be stopped. */
enum { PIECE_BYTES = 8 << 20 };

static enum error_code failed(const char *what, const char *name, struct error *error)
{
    int why = errno;
    return error_set(error, ERROR_TENSOR_FILE_FAILED, NULL, "cannot %s %.160s in tensor_dir: %s%s",
                     what, name, strerror(why),
                     why == ENOENT ? "; is the folder still there?" : "");
}

enum error_code folder_create(struct folder *folder, struct new_file *file, const char *target,
                              struct error *error)
{
    file->target = target;
    if (!folder->is_writable)
        return error_set(error, ERROR_TENSOR_FILE_FAILED, NULL, "tensor_dir is read only");
    snprintf(file->name, sizeof file->name, FOLDER_NEW_PREFIX "%08x-%u", folder->tag,
             atomic_fetch_add(&folder->temporaries, 1));
    file->fd = openat(folder->fd, file->name,
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0640);
    return file->fd >= 0 ? ERROR_NONE : failed("write", file->target, error);
}

enum error_code new_file_write(struct new_file *file, const void *bytes, size_t size,
                               const atomic_bool *stop, struct error *error)
{
    for (size_t done = 0; done < size;) {
        size_t piece = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
        if (stop && atomic_load_explicit(stop, memory_order_relaxed))
            return error_set(error, ERROR_CANCELLED, NULL, "the write was ended");
        ssize_t written = write(file->fd, (const char *)bytes + done, piece);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return failed("write", file->target, error);
        done += (size_t)written;
        /* The disk works on it while the next piece is copied; new_file_sync tells its faults. */
        if ((size_t)written == PIECE_BYTES)
            (void)sync_file_range(file->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    }
    return ERROR_NONE;
}

enum error_code new_file_sync(struct new_file *file, struct error *error)
{
    return fsync(file->fd) == 0 ? ERROR_NONE : failed("write", file->target, error);
}

void folder_discard(struct folder *folder, struct new_file *file)
{
    close(file->fd);
    unlinkat(folder->fd, file->name, 0);
}

enum error_code folder_replace(struct folder *folder, struct new_file *file, struct error *error)
{
    if (renameat(folder->fd, file->name, folder->fd, file->target) != 0) {
        enum error_code code = failed("replace", file->target, error);
        folder_discard(folder, file);
        return code;
    }
    close(file->fd);
    return ERROR_NONE;
}

enum error_code folder_remove(struct folder *folder, const char *name, struct error *error)
{
    return unlinkat(folder->fd, name, 0) == 0 || errno == ENOENT ? ERROR_NONE
                                                                 : failed("remove", name, error);
}

enum error_code folder_rename(struct folder *folder, const char *from, const char *to,
                              struct error *error)
{
    return renameat(folder->fd, from, folder->fd, to) == 0 ? ERROR_NONE
                                                           : failed("rename", from, error);
}

enum error_code folder_sync(const struct folder *folder, struct error *error)
{
    return fsync(folder->fd) == 0 ? ERROR_NONE : failed("keep", "what changed", error);
}
