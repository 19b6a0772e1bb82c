#include "server/files/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static enum error_code cannot(const char *what, const char *name, struct error *error)
{
    return error_set(error, ERROR_INVALID_PARAMETER, NULL, "tensor_dir: cannot %s %.200s: %s", what,
                     name, strerror(errno));
}

/* A folder that is only read may be used by many. */
static enum error_code lock(const struct folder *folder, const char *path, enum folder_use use,
                            struct error *error)
{
    int how = use == FOLDER_SHARED ? LOCK_SH : LOCK_EX;
    if (use == FOLDER_LOOKED_AT || !folder->is_writable || flock(folder->fd, how | LOCK_NB) == 0)
        return ERROR_NONE;
    if (errno != EWOULDBLOCK)
        return cannot("lock", path, error);
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "tensor_dir: another tensord writes to %.200s", path);
}

/* Root may write everything: what nobody is to write is not written by root either. */
static bool may_write(int folder, const char *name, mode_t mode)
{
    return (mode & (S_IWUSR | S_IWGRP | S_IWOTH)) &&
           faccessat(folder, name, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_for_writing(int fd)
{
    struct stat found = {0};
    return fstat(fd, &found) == 0 && may_write(fd, ".", found.st_mode);
}

enum error_code folder_open(struct folder *folder, const char *path, enum folder_use use,
                            struct error *error)
{
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0)
        return cannot("open", path, error);
    folder->is_writable = is_for_writing(folder->fd);
    if (getrandom(&folder->tag, sizeof folder->tag, GRND_NONBLOCK) != sizeof folder->tag)
        folder->tag = (unsigned)getpid();
    if (lock(folder, path, use, error) == ERROR_NONE)
        return ERROR_NONE;
    folder_close(folder);
    return error->code;
}

void folder_close(struct folder *folder)
{
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
}

/* ---------------------------------------------------------------------------------- all of them */

/* Opened anew: a descriptor that is shared would share its place in the list. */
static DIR *open_list(const struct folder *folder)
{
    int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (!list && fd >= 0)
        close(fd);
    return list;
}

static bool is_left(const struct folder *folder, const char *name, time_t before_s)
{
    struct stat found;
    return strncmp(name, FOLDER_NEW_PREFIX, sizeof FOLDER_NEW_PREFIX - 1) == 0 &&
           fstatat(folder->fd, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_mtime < before_s;
}

void folder_sweep(struct folder *folder, time_t before_s)
{
    DIR *list = folder->is_writable ? open_list(folder) : NULL;
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (is_left(folder, entry->d_name, before_s))
            unlinkat(folder->fd, entry->d_name, 0);
    if (list)
        closedir(list);
}

static bool is_tensors(const char *name)
{
    size_t size = strlen(name), suffix = sizeof FILE_SUFFIX - 1;
    return name[0] != '.' && size > suffix && strcmp(name + size - suffix, FILE_SUFFIX) == 0;
}

static int is_listed(const struct dirent *entry)
{
    return is_tensors(entry->d_name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

char *folder_list(const struct folder *folder, size_t *count, struct error *error)
{
    struct dirent **entries;
    int found = scandirat(folder->fd, ".", &entries, is_listed, by_name);
    size_t room = 1;
    if (found < 0) {
        (void)cannot("list", "its files", error);
        return NULL;
    }
    *count = (size_t)found;
    for (int i = 0; i < found; i++)
        room += strlen(entries[i]->d_name) + 1;
    char *names = malloc(room), *at = names;
    for (int i = 0; i < found; i++) {
        if (names)
            at = stpcpy(at, entries[i]->d_name) + 1;
        free(entries[i]);
    }
    free(entries);
    if (!names)
        error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for the list of files");
    return names;
}

/* -------------------------------------------------------------------------------------- reading */

void folder_file_of(char *file, const char *name)
{
    strcpy(stpcpy(file, name), FILE_SUFFIX);
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode) ? "a folder" : S_ISFIFO(mode) ? "a pipe" : "no regular file";
}

static enum error_code explain_open(const char *name, struct error *error)
{
    if (errno == ENOENT)
        return error_set(error, ERROR_NOT_FOUND, NULL, "there is no file %.200s", name);
    if (errno == ELOOP)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "tensor_dir: %.200s is a link; links are not followed", name);
    return cannot("read", name, error);
}

int folder_read(const struct folder *folder, const char *name, size_t *size, bool *is_writable,
                struct error *error)
{
    struct stat found = {0};
    /* Without O_NONBLOCK a pipe would wait for its other end. */
    int fd = openat(folder->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        (void)explain_open(name, error);
        return -1;
    }
    if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode)) {
        *size = (size_t)found.st_size;
        *is_writable = folder->is_writable && may_write(folder->fd, name, found.st_mode);
        return fd;
    }
    error_set(error, ERROR_INVALID_PARAMETER, NULL, "tensor_dir: %.200s is %s", name,
              kind_of(found.st_mode));
    close(fd);
    return -1;
}

enum error_code folder_read_at(int fd, void *bytes, size_t size, size_t offset, struct error *error)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return error_set(error, ERROR_INVALID_PARAMETER, NULL, "cannot read it: %s",
                             got < 0 ? strerror(errno) : "it became shorter meanwhile");
        done += (size_t)got;
    }
    return ERROR_NONE;
}
