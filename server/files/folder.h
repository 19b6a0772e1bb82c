/* folder: a directory whose files are read, replaced whole, renamed and removed. Names of files are
 * without a slash, and a link is never followed. */
#ifndef SERVER_FILES_FOLDER_H
#define SERVER_FILES_FOLDER_H

#include "kernels/error.h"
#include "proto/request/tensor_name.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define FILE_SUFFIX ".safetensors"

/* Of a file that is not whole yet: a number follows. */
#define FOLDER_NEW_PREFIX ".tensord-new-"

enum { FILE_NAME_MAX = TENSOR_NAME_MAX + sizeof FILE_SUFFIX - 1 };

struct folder {
    int fd; /* -1: none */
    bool is_writable;
    unsigned tag;            /* random: of the names of temporaries, which no other process has */
    atomic_uint temporaries; /* made so far */
};

/* LOOKED_AT: without a trace. OWN: nobody else who may write there does so from now on. SHARED:
 * nobody else does as if it were its own. */
enum folder_use { FOLDER_LOOKED_AT, FOLDER_OWN, FOLDER_SHARED };

/* Opens it. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code folder_open(struct folder *folder, const char *path, enum folder_use use,
                                       struct error *error);
void folder_close(struct folder *folder);

/* Removes the temporaries that a death left: all that were written last before `before_s`, since
 * 1970. */
void folder_sweep(struct folder *folder, time_t before_s);

/* The names of all files that end in FILE_SUFFIX and do not begin with a dot, in their order, one
 * after the other with their ends; owned by the caller, NULL with the error. Errors:
 * INVALID_PARAMETER RESOURCE_EXHAUSTED. */
char *folder_list(const struct folder *folder, size_t *count, struct error *error);

/* The name of a resident's own file, into FILE_NAME_MAX + 1 bytes. */
void folder_file_of(char *file, const char *name);

/* A file to read, never of another kind than a regular one; -1 with the error. *is_writable:
 * whether the file may be replaced. Errors: NOT_FOUND, INVALID_PARAMETER. */
int folder_read(const struct folder *folder, const char *name, size_t *size, bool *is_writable,
                struct error *error);

/* Reads exactly `size` bytes from `offset`. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code folder_read_at(int fd, void *bytes, size_t size, size_t offset,
                                          struct error *error);

/* --- changes; errors: TENSOR_FILE_FAILED, and what was there before still is */

/* A file that is not whole yet, beside those that are. */
struct new_file {
    int fd;
    char name[40];
    const char *target; /* the name that it is to take */
};

/* `target` outlives the file. */
MUST_CHECK enum error_code folder_create(struct folder *folder, struct new_file *file,
                                         const char *target, struct error *error);

/* Appends. `stop` ends it between its pieces: CANCELLED; NULL: nothing does. */
MUST_CHECK enum error_code new_file_write(struct new_file *file, const void *bytes, size_t size,
                                          const atomic_bool *stop, struct error *error);

/* Puts all of the file on the disk. */
MUST_CHECK enum error_code new_file_sync(struct new_file *file, struct error *error);

/* Gives the file its name, in place of one that may have it: at any moment the new one or the old
 * one is there. After an error the new one is removed. */
MUST_CHECK enum error_code folder_replace(struct folder *folder, struct new_file *file,
                                          struct error *error);
void folder_discard(struct folder *folder, struct new_file *file);

/* A file that is not there is removed already. */
MUST_CHECK enum error_code folder_remove(struct folder *folder, const char *name,
                                         struct error *error);
MUST_CHECK enum error_code folder_rename(struct folder *folder, const char *from, const char *to,
                                         struct error *error);

/* Puts the changes so far on the disk, so that they outlive the machine. */
MUST_CHECK enum error_code folder_sync(const struct folder *folder, struct error *error);

#endif
