/* folder: a directory whose files are read, replaced whole, renamed and removed. Names of files are
 * without a slash, and a link is never followed. */
#ifndef SERVER_FILES_FOLDER_H
#define SERVER_FILES_FOLDER_H

#include "kernels/error.h"
#include "proto/request/tensor_name.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define FILE_SUFFIX ".safetensors"

enum { FILE_NAME_MAX = TENSOR_NAME_MAX + sizeof FILE_SUFFIX - 1 };

struct folder {
    int fd; /* -1: none */
    bool is_writable;
    atomic_uint temporaries; /* made so far */
};

/* Opens it. `is_ours`: nobody else who may write there does so from now on. Errors:
 * INVALID_PARAMETER. */
MUST_CHECK enum error_code folder_open(struct folder *folder, const char *path, bool is_ours,
                                       struct error *error);
void folder_close(struct folder *folder);

/* Removes the temporaries that a death left. */
void folder_sweep(struct folder *folder);

/* The names of all files that end in FILE_SUFFIX and do not begin with a dot, in their order, one
 * after the other with their ends; owned by the caller, NULL with the error. Errors:
 * INVALID_PARAMETER RESOURCE_EXHAUSTED. */
char *folder_list(const struct folder *folder, size_t *count, struct error *error);

/* A file to read, never of another kind than a regular one; -1 with the error. *is_writable:
 * whether the file may be replaced. Errors: NOT_FOUND, INVALID_PARAMETER. */
int folder_read(const struct folder *folder, const char *name, size_t *size, bool *is_writable,
                struct error *error);

/* Reads exactly `size` bytes from `offset`. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code folder_read_at(int fd, void *bytes, size_t size, size_t offset,
                                          struct error *error);

#endif
