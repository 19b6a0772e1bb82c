/* snapshot: a resident as a file of its own. In its turn it is taken: what is to be written, with a
 * copy of the elements where the budget has room for one, so that the line can be left; then it is
 * written, and takes the name if that still has the resident. */
#ifndef SERVER_FILES_SNAPSHOT_H
#define SERVER_FILES_SNAPSHOT_H

#include "server/files/files.h"
#include "server/tensors/store_files.h"

struct snapshot {
    char name[TENSOR_NAME_MAX + 1], file[FILE_NAME_MAX + 1], etag[ETAG_MAX];
    struct saved_state state;
    struct writer_lease lease;
    char *head; /* what stands in front of the elements; owned */
    size_t head_bytes, bytes;
    const void *data;   /* the elements: of the copy, or the resident's own */
    struct block *copy; /* owned; NULL: the turn is to be held until all is written */
};

/* The places of a turn whose resident it is, and whose keys. */
struct taken {
    int resident, keys;
};

/* In a held turn, which may read. Errors: RESOURCE_EXHAUSTED, TENSOR_FILE_FAILED (more keys than a
 * file's head may have). After an error there is nothing to release. */
MUST_CHECK enum error_code snapshot_take(struct snapshot *snapshot, struct files *files,
                                         struct turn *turn, struct taken taken, bool may_copy,
                                         struct error *error);
void snapshot_release(struct snapshot *snapshot, struct files *files);

/* Writes all of it to a new file, which is to become `target`; after an error there is none. `stop`
 * ends that early: CANCELLED; NULL: nothing does. Errors: TENSOR_FILE_FAILED. */
MUST_CHECK enum error_code snapshot_write_new(const struct snapshot *snapshot, struct files *files,
                                              struct new_file *file, const char *target,
                                              const atomic_bool *stop, struct error *error);

/* Writes it, and gives it the name. More errors: TENSOR_HELD; CONFLICT (the name has another
 * resident by now, or none): the file is as it was. */
MUST_CHECK enum error_code snapshot_write(const struct snapshot *snapshot, struct files *files,
                                          const atomic_bool *stop, struct error *error);

#endif
