/* load: a tensor of a file becomes resident: all of them at the start (files_load), or one when it
 * is first asked for (files_prepare). */
#ifndef SERVER_FILES_LOAD_H
#define SERVER_FILES_LOAD_H

#include "server/files/files.h"
#include "server/files/reader.h"

struct load {
    struct files *files;
    bool (*go_on)(void *context); /* asked now and then; once it says no the load ends */
    void *context;
};

/* In a turn that holds the name alone, which has no resident. Errors: RESOURCE_EXHAUSTED
 * TENSOR_MEMORY_FULL CANCELLED, and what is wrong with the file, without its name. */
MUST_CHECK enum error_code load_tensor(const struct load *load, const struct reader *reader,
                                       const struct safetensors_entry *entry, struct turn *turn,
                                       int place, struct error *error);

#endif
