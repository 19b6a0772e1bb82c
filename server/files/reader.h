/* reader: a file of the folder, opened and its head understood. */
#ifndef SERVER_FILES_READER_H
#define SERVER_FILES_READER_H

#include "proto/request/safetensors_file.h"
#include "server/files/folder.h"
#include "server/memory/arena.h"
#include "server/tensors/store.h"

struct reader {
    int fd;
    bool is_writable; /* the file may be replaced */
    struct file_stamp stamp;
    size_t data_at; /* where its data begins */
    struct safetensors_file file;
    struct arena arena; /* holds what `file` points to */
    struct block *home;
};

/* Errors: NOT_FOUND (no such file), INVALID_PARAMETER with the file's name and fault,
 * RESOURCE_EXHAUSTED. After an error there is nothing to close. */
MUST_CHECK enum error_code reader_open(struct reader *reader, const struct folder *folder,
                                       const char *name, struct blocks *blocks,
                                       struct budget *budget, struct error *error);
void reader_close(struct reader *reader);

/* Reads the data of a tensor of the file, its bytes from `from` on. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code reader_read(const struct reader *reader,
                                       const struct safetensors_entry *entry, void *bytes,
                                       size_t size, size_t from, struct error *error);

/* Puts the file's name in front of what is wrong with it: INVALID_PARAMETER, or the code as it is
 * where it says that this server has no room. */
enum error_code reader_blame(const char *name, struct error *error);

#endif
