#include "server/jobs/file_job.h"

#include "proto/text.h"
#include "server/base/clock.h"
#include "server/files/change.h"
#include "server/files/snapshot.h"
#include "server/jobs/job.h"

#include <inttypes.h>
#include <string.h>

enum { ANSWER_MAX = 1024 };

bool tensor_job_is_of_files(const struct job *job)
{
    enum verb verb = job->call.verb;
    return job->kind == JOB_TENSOR && job->holds.setup.files &&
           (verb == VERB_MOVE || verb == VERB_DROP || verb == VERB_SNAPSHOT || verb == VERB_EXPIRE);
}

/* ------------------------------------------------------------------------------ moves and ends */

enum error_code file_job_move(struct job *job)
{
    struct holds *holds = &job->holds;
    int from = holds->inputs[0], to = holds->into;
    if (!store_prepare_move(holds->setup.store, &holds->turn, from, to, &holds->setup.position))
        return error_set(&job->error, ERROR_RESOURCE_EXHAUSTED, NULL,
                         "no room for the positions of both tensors");
    if (holds->setup.files)
        return files_move(holds->setup.files, &holds->turn, from, to, &holds->setup.position,
                          &job->error);
    store_move(holds->setup.store, &holds->turn, from, to, &holds->setup.position, clock_ns());
    return ERROR_NONE;
}

enum error_code file_job_drop(struct job *job)
{
    struct holds *holds = &job->holds;
    if (holds->setup.files)
        return files_drop(holds->setup.files, &holds->turn, holds->into, &job->error);
    store_drop(holds->setup.store, &holds->turn, holds->into);
    return ERROR_NONE;
}

/* The resident may have been used, replaced or dropped since its lease was found over. */
enum error_code file_job_expire(struct job *job)
{
    struct holds *holds = &job->holds;
    const struct resident *resident = turn_resident(&holds->turn, holds->into);
    if (!resident || !resident_is_expired(resident, clock_ns()) || file_job_drop(job) != ERROR_NONE)
        return job->error.code;
    store_count(holds->setup.store, STORE_EXPIRED);
    return ERROR_NONE;
}

/* --------------------------------------------------------------------------------- snapshots */

enum error_code file_job_plan_snapshot(struct job *job)
{
    struct holds *holds = &job->holds;
    if (!holds->setup.files)
        return error_set(&job->error, ERROR_NOT_SUPPORTED, NULL,
                         "this server keeps tensors in memory only and writes no snapshots "
                         "(setting tensor_dir)");
    return holds_is_ours(holds, holds->about, &job->error);
}

static void describe_snapshot(struct job *job, const struct snapshot *snapshot, char *answer)
{
    struct text text;
    text_init(&text, answer, ANSWER_MAX);
    text_printf(&text, "{\"name\":\"%s\",\"file\":\"%s\",\"bytes\":%zu,\"version\":%" PRIu64,
                snapshot->name, snapshot->file, snapshot->head_bytes + snapshot->bytes,
                snapshot->state.version);
    text_puts(&text, ",\"etag\":");
    text_json(&text, snapshot->etag, strlen(snapshot->etag));
    text_puts(&text, "}\n");
    strcpy(job->holds.etag, snapshot->etag);
    job->response = (struct response){
        .data = answer, .size = text.size, .header_length = -1, .content_type = "application/json"};
}

/* With a copy the line is left before the disk is waited for. */
enum error_code file_job_snapshot(struct job *job, const struct work *work)
{
    struct holds *holds = &job->holds;
    struct files *files = holds->setup.files;
    struct snapshot snapshot;
    char *answer = arena_get(&job->arena, ANSWER_MAX);
    if (!answer)
        return error_set(&job->error, ERROR_RESOURCE_EXHAUSTED, NULL,
                         "there is no memory for an answer");
    if (snapshot_take(&snapshot, files, &holds->turn, (struct taken){holds->about, holds->about},
                      true, &job->error) != ERROR_NONE)
        return job->error.code;
    if (snapshot.copy)
        holds_release(holds);
    enum error_code code = snapshot_write(&snapshot, files, work->stop, &job->error);
    holds_release(holds);
    if (code == ERROR_NONE)
        describe_snapshot(job, &snapshot, answer);
    snapshot_release(&snapshot, files);
    return code;
}
