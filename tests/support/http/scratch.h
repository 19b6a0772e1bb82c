/* scratch: a folder of a test's own with files that it writes. Assertions fail when the machine
 * does not let it. */
#ifndef TESTS_SUPPORT_HTTP_SCRATCH_H
#define TESTS_SUPPORT_HTTP_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

struct scratch {
    char path[64];
    char setting[80]; /* --tensor_dir=PATH */
};

void scratch_make(struct scratch *s);

/* Removes the folder with all that is in it, folders too. */
void scratch_remove(struct scratch *s);

/* The path of a file in it; good until the next but three calls. */
const char *scratch_path(const struct scratch *s, const char *name);

bool scratch_has(const struct scratch *s, const char *name);

/* How many files are in it, with those that begin with a dot. */
int scratch_count(const struct scratch *s);

void scratch_write(const struct scratch *s, const char *name, const void *bytes, size_t size);

/* The whole file, owned by the caller. */
char *scratch_read(const struct scratch *s, const char *name, size_t *size);

/* A safetensors file: its header, in which a ' stands for a ", and its data. */
void scratch_tensors(const struct scratch *s, const char *name, const char *header,
                     const void *data, size_t size);

#endif
