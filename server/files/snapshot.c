#include "server/files/snapshot.h"

#include "proto/answer/safetensors_write.h"
#include "proto/request/safetensors_file.h"
#include "server/base/clock.h"
#include "server/files/saved.h"
#include "server/files/share.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_START = 8 * 1024, HEAD_ROOM = 2 * 1024 };

/* What the file says besides the elements, owned by the caller; NULL with the error. */
static char *print_words(struct files *files, struct turn *turn, struct taken taken,
                         struct error *error)
{
    for (size_t room = WORDS_START; room <= SAFETENSORS_HEADER_MAX - HEAD_ROOM; room *= 2) {
        struct text text;
        char *words = malloc(room);
        if (!words) {
            error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for the head of a file");
            return NULL;
        }
        text_init(&text, words, room);
        saved_print(&text, files->store, turn, taken.resident, taken.keys);
        if (!text.cut)
            return words;
        free(words);
    }
    error_set(error, ERROR_TENSOR_FILE_FAILED, NULL,
              "the keys that it remembers are more than a file's head may have; lower tensor_keys");
    return NULL;
}

static enum error_code print_head(struct snapshot *snapshot, struct files *files, struct turn *turn,
                                  struct taken taken, struct error *error)
{
    struct text text;
    char *words = print_words(files, turn, taken, error);
    if (!words)
        return error->code;
    size_t room = strlen(words) + HEAD_ROOM;
    snapshot->head = malloc(room);
    if (snapshot->head) {
        text_init(&text, snapshot->head, room);
        safetensors_write_head(&text, snapshot->name, &turn_resident(turn, taken.resident)->tensor,
                               snapshot->bytes, words);
        snapshot->head_bytes = text.size;
    }
    free(words);
    return snapshot->head ? ERROR_NONE
                          : error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                                      "no memory for the head of a file");
}

/* Without room for a copy the elements are written while the turn is held. */
static void copy(struct snapshot *snapshot, struct files *files)
{
    struct budget *budget = &files->store->budget;
    size_t cost = blocks_cost(snapshot->bytes);
    if (cost == SIZE_MAX || !budget_reserve(budget, cost, true))
        return;
    snapshot->copy = blocks_get(files->blocks, snapshot->bytes);
    if (!snapshot->copy) {
        budget_give_back(budget, cost);
        return;
    }
    memcpy(snapshot->copy->bytes, snapshot->data, snapshot->bytes);
    snapshot->data = snapshot->copy->bytes;
}

enum error_code snapshot_take(struct snapshot *snapshot, struct files *files, struct turn *turn,
                              struct taken taken, bool may_copy, struct error *error)
{
    const struct resident *r = turn_resident(turn, taken.resident);
    *snapshot = (struct snapshot){
        .state = {r->generation, r->epoch, r->version, r->changes, clock_ns()},
        .lease = turn->places[taken.keys].named->lease,
        .bytes = r->bytes,
        .data = r->tensor.data,
    };
    strcpy(snapshot->name, turn->places[taken.resident].named->name);
    folder_file_of(snapshot->file, snapshot->name);
    resident_etag(r, snapshot->etag);
    if (print_head(snapshot, files, turn, taken, error) != ERROR_NONE)
        return error->code;
    if (may_copy)
        copy(snapshot, files);
    return ERROR_NONE;
}

void snapshot_release(struct snapshot *snapshot, struct files *files)
{
    free(snapshot->head);
    if (snapshot->copy)
        store_block_put(files->store, snapshot->copy);
}

enum error_code snapshot_write_new(const struct snapshot *snapshot, struct files *files,
                                   struct new_file *file, const char *target,
                                   const atomic_bool *stop, struct error *error)
{
    if (folder_create(&files->folder, file, target, error) != ERROR_NONE)
        return error->code;
    if (new_file_write(file, snapshot->head, snapshot->head_bytes, stop, error) == ERROR_NONE &&
        new_file_write(file, snapshot->data, snapshot->bytes, stop, error) == ERROR_NONE &&
        new_file_sync(file, error) == ERROR_NONE)
        return ERROR_NONE;
    folder_discard(&files->folder, file);
    return error->code;
}

/* Under `commit`. */
static enum error_code take_name(const struct snapshot *snapshot, struct files *files,
                                 struct new_file *file, struct error *error)
{
    if (!store_stands(files->store, snapshot->name, &snapshot->state)) {
        folder_discard(&files->folder, file);
        return error_set(error, ERROR_CONFLICT, NULL,
                         "the tensor '%s' was dropped, replaced or saved while its snapshot was "
                         "written",
                         snapshot->name);
    }
    struct saved_state state = snapshot->state;
    int locked;
    if (share_lock(files, snapshot->name, &snapshot->lease, &locked, error) != ERROR_NONE) {
        folder_discard(&files->folder, file);
        return error->code;
    }
    enum error_code code = folder_replace(&files->folder, file, error);
    if (code != ERROR_NONE) {
        lease_unlock(locked);
        return code;
    }
    code = folder_sync(&files->folder, error);
    lease_unlock(locked);
    if (code != ERROR_NONE) /* there is a file, but what a restart finds in it is not known */
        state.changes = state.version = 0;
    store_saved(files->store, snapshot->name, &state);
    return code;
}

static void count(struct files *files, const struct snapshot *snapshot, uint64_t start,
                  enum error_code code)
{
    if (code == ERROR_NONE) {
        atomic_fetch_add(&files->saved, 1);
        atomic_store(&files->saved_ns, clock_ns() - start);
        atomic_store(&files->saved_bytes, snapshot->head_bytes + snapshot->bytes);
    } else if (code == ERROR_TENSOR_FILE_FAILED) {
        atomic_fetch_add(&files->failed, 1);
    }
}

static void tell(struct files *files, const struct snapshot *snapshot, uint64_t start,
                 enum error_code code, const struct error *error)
{
    struct log_line line;
    bool is_fault = code == ERROR_TENSOR_FILE_FAILED;
    log_begin(&line, is_fault ? LOG_ERROR : LOG_INFO,
              code == ERROR_NONE ? "snapshot" : "no snapshot");
    log_string(&line, "tensor", snapshot->name);
    log_int(&line, "version", (int64_t)snapshot->state.version);
    log_int(&line, "bytes", (int64_t)(snapshot->head_bytes + snapshot->bytes));
    log_int(&line, "ms", (int64_t)((clock_ns() - start) / MSEC));
    if (code != ERROR_NONE)
        log_string(&line, "error", error->message);
    if (log_wants(files->log, is_fault ? LOG_ERROR : LOG_INFO))
        log_end(&line, files->log);
}

enum error_code snapshot_write(const struct snapshot *snapshot, struct files *files,
                               const atomic_bool *stop, struct error *error)
{
    struct new_file file;
    uint64_t start = clock_ns();
    enum error_code code = snapshot_write_new(snapshot, files, &file, snapshot->file, stop, error);
    if (code == ERROR_NONE) {
        pthread_mutex_lock(&files->commit);
        code = take_name(snapshot, files, &file, error);
        if (code == ERROR_NONE)
            checkpoint_pass(files);
        pthread_mutex_unlock(&files->commit);
    }
    count(files, snapshot, start, code);
    tell(files, snapshot, start, code, error);
    return code;
}
