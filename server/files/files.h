/* files: resident tensors as files of a folder, the setting tensor_dir: what is loaded from there,
 * what is written there, and how the two stay in step.
 *
 * A file is of the safetensors format. `emb.safetensors` with one tensor is the resident emb; with
 * several, a and b, it is emb.a and emb.b. A file that this server wrote says of its resident what
 * is not its elements: generation, epoch, version, lease, positions and keys (head.h). What comes
 * from any other file, or from one that may not be written, is read only.
 *
 * Who owns what: the process owns the folder, alone among those that may write there, for as long
 * as it lives (a lock on the folder, which ends with it); or it shares it with others, and owns the
 * names that it holds (lease.h). A resident's file belongs to its name
 * (named->has_file). It is read before the server is ready, or when the name is first asked for. It
 * is replaced, renamed or removed only under `commit`, in one system call, after a look at whether
 * the name still has the resident that this is about. So there is one order of all changes to the
 * folder. The lock of the store is taken inside `commit`, never around it.
 *
 * The states of a name with respect to its file:
 *
 *               drain            deadline, client   the process dies      full disk, any fault
 *                                leaves                                   of the folder
 *   no file     is saved         -                  gone                  -
 *   absent      -                -                  the file stands       -
 *   loading,    (not ready yet)  the start ends     the file stands       the start ends
 *   at start
 *   loading,    the load ends,   goes on for who    the file stands       absent; 507, tried again
 *   first use   absent           asks next                                by who asks next
 *   saved       stays            -                  the file is loaded    -
 *   unsaved     is saved         -                  the file from before  -
 *                                                   is loaded, with a
 *                                                   new epoch
 *   being       goes on, or is   the write ends,    the file from before  the file from before
 *   written     written anew at  its temporary is   or the new one; the   stands; 507, the log,
 *               the end          removed            temporary is swept    a metric; tried again
 *                                                   by the next start     by the next interval
 *   being       goes on          goes on: it is     the file is there or  nothing is dropped or
 *   removed or                   one system call    is not, as the name   moved; 507
 *   renamed                                         would be after it
 *   dropped     -                -                  stays dropped         -
 *
 * Absent: it has a file, and no resident; so is all at a start with tensor_load=first_use. Who
 * names it holds its line alone until it is loaded, or known to have no file.
 *
 * Not clean is every end but one: a drain that saved all. It leaves a list of what it saved, which
 * the next start takes away before anything else. What is not on it may have had versions that were
 * told and are lost: it gets a new epoch, so that their tags never are true again. How far sources
 * of updates had come is kept too, and never is ahead of the files: checkpoint.h. */
#ifndef SERVER_FILES_FILES_H
#define SERVER_FILES_FILES_H

#include "server/config/config.h"
#include "server/files/checkpoint.h"
#include "server/files/folder.h"
#include "server/files/lease.h"
#include "server/log/log.h"
#include "server/memory/block.h"
#include "server/memory/budget.h"
#include "server/tensors/store.h"

#include <pthread.h>
#include <stdatomic.h>

/* In the order of the setting tensor_load's words. */
enum tensor_load { LOAD_AT_START, LOAD_AT_FIRST_USE };

struct catalog;

struct files {
    struct folder folder; /* its fd is -1 where there is none: nothing else of this is used then */
    pthread_mutex_t commit;
    struct store *store;
    struct blocks *blocks; /* for what is read of a file's head */
    struct budget *budget;
    struct log *log;
    struct catalog *catalog; /* what is to be loaded before the server is ready; NULL: nothing */
    char *clean;             /* the list of the drain before; owned, NULL: there was none */
    struct checkpoint checkpoint; /* under `commit` */

    /* share.c's, where several servers write to the folder. */
    bool is_shared, share_ends;
    struct leases leases;
    pthread_t sharer;
    pthread_mutex_t share_lock;
    pthread_cond_t share_wake;

    /* Of the load, for whoever asks why the server is not ready. */
    atomic_size_t load_count, loaded_count, load_bytes, loaded_bytes;

    /* For metrics: snapshots written and failed, how long and large the last one was, since when
     * (monotonic) the oldest write is not in a file (0: all are); how many loads began an epoch. */
    _Atomic uint64_t saved, failed, saved_ns, saved_bytes, unsaved_since_ns, epochs;
};

/* All that is pointed to outlives it. */
struct files_setup {
    struct store *store;
    struct blocks *blocks;
    struct budget *budget;
    struct log *log;
};

void files_init(struct files *files, const struct files_setup *setup);
void files_release(struct files *files);

static inline bool files_exist(const struct files *files)
{
    return files->folder.fd >= 0;
}

/* Opens the folder, unless `config` names none, locks it, sweeps what a death left, and looks at
 * every file. Errors: INVALID_PARAMETER, naming the file and its fault. */
MUST_CHECK enum error_code files_open(struct files *files, const struct config *config,
                                      struct error *error);

/* The same look, for --check-config, without a trace. */
MUST_CHECK enum error_code files_check(const struct config *config, struct error *error);

/* Loads what files_open saw. `go_on` is asked now and then; once it says no the load ends.
 * Errors: INVALID_PARAMETER (a file changed since, or cannot be read), CANCELLED. */
MUST_CHECK enum error_code files_load(struct files *files, bool (*go_on)(void *context),
                                      void *context, struct error *error);

/* --- where tensors are loaded at first use: in a held turn */

/* Loads what the turn's names have files of and is not in memory yet; then the turn is ready. Not
 * for HTTP threads. `go_on` as above. Errors: TENSOR_FILE_FAILED (the file cannot be read, or is
 * damaged), RESOURCE_EXHAUSTED, TENSOR_MEMORY_FULL, CANCELLED; then the name is as it was. */
MUST_CHECK enum error_code files_prepare(struct files *files, struct turn *turn,
                                         bool (*go_on)(void *context), void *context,
                                         struct error *error);

/* The type of the elements that the file of that name has; DTYPE_NONE: there is none. Not for HTTP
 * threads. */
enum dtype files_dtype(struct files *files, const char *name);

/* At the end of a drain that saved all that it could: writes the list of what is saved. */
void files_leave_clean(struct files *files);

#endif
