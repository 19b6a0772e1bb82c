/* file_world: a store and the files of one folder, without a server. What fails that a test does
 * not look at ends the program. */
#ifndef TESTS_SUPPORT_FILES_FILE_WORLD_H
#define TESTS_SUPPORT_FILES_FILE_WORLD_H

#include "server/files/snapshot.h"

struct file_world {
    struct config config;
    struct blocks blocks;
    struct budget budget;
    struct clients clients;
    struct store store;
    struct log log;
    struct files files;
};

/* Empty, of that folder; its log goes to `log_fd`. Nothing is looked at yet. */
void file_world_open(struct file_world *w, const char *folder, int log_fd);

/* Gives everything back; what is still charged to a budget ends the program. */
void file_world_close(struct file_world *w);

/* As a process that is killed and started again: nothing that is not in a file is left. */
void file_world_restart(struct file_world *w, const char *folder, int log_fd);

/* As a start does it: files_open and files_load. */
MUST_CHECK enum error_code file_world_load(struct file_world *w, struct error *error);

/* The turn holds this name alone, as one that writes it. */
void file_world_take(struct file_world *w, struct turn *turn, const char *name);
void file_world_leave(struct file_world *w, struct turn *turn);

/* Keeps a tensor of bytes, in place of one that may be there. */
void file_world_put(struct file_world *w, const char *name, const char *bytes);

/* A snapshot as a request makes it. `stop`: see snapshot_write. */
MUST_CHECK enum error_code file_world_save(struct file_world *w, const char *name,
                                           const atomic_bool *stop, struct error *error);

#endif
