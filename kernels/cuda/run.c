#include "kernels/cuda/lane.h"
#include "kernels/cuda/needs.h"
#include "kernels/fault.h"

#include <assert.h>

/* One plan on its way through the device. */
struct run {
    struct lane *lane;
    struct plan *plan;
    size_t row_bytes; /* of the output */
};

static void *buffer(const struct run *run, enum buffer which)
{
    return run->lane->buffers[which];
}

static bool failed(struct run *run, cudaError_t status, const char *call, struct error *error)
{
    return lane_failed(run->lane, status, call, error);
}

static int index_bits(const struct tensor *t)
{
    return t->dtype == DTYPE_INT32 ? 32 : 64;
}

static enum error_code upload(struct run *run, enum buffer to, const struct tensor *t,
                              struct error *error)
{
    size_t bytes;
    bool counted = tensor_bytes(t, &bytes);
    assert(counted);
    return lane_upload(run->lane, to, t->data, bytes, run->plan, error);
}

/* ------------------------------------------------------------------------------------- checking */

static cudaError_t launch_check(struct run *run)
{
    const struct plan *plan = run->plan;
    const struct rows *rows = &plan->rows;
    struct verdict *verdict = buffer(run, BUFFER_FOUND);
    if (plan->segment_ids) {
        struct check_pairs job = {.verdict = verdict,
                                  .indices = buffer(run, BUFFER_INDICES),
                                  .ids = buffer(run, BUFFER_IDS),
                                  .index_bits = index_bits(plan->indices),
                                  .id_bits = index_bits(plan->segment_ids),
                                  .count = rows->count,
                                  .segments = plan->output.shape[0],
                                  .limit = (uint32_t)rows->limit,
                                  .key = buffer(run, BUFFER_ROWS),
                                  .source = buffer(run, BUFFER_SOURCES)};
        return cuda_check_pairs(&job, run->lane->stream);
    }
    struct check_rows job = {.verdict = verdict,
                             .indices = buffer(run, BUFFER_INDICES),
                             .index_bits = index_bits(plan->indices),
                             .depth = rows->depth,
                             .count = rows->count,
                             .limit = (uint32_t)rows->limit,
                             .row = buffer(run, BUFFER_ROWS),
                             .seen = needs_order(plan) ? (uint32_t *)(verdict + 1) : NULL,
                             .divisors =
                                 needs_division_check(plan) ? buffer(run, BUFFER_VALUES) : NULL,
                             .divisor_bytes = (int)dtype_bytes(plan->dtype),
                             .width = rows->width};
    for (int i = 0; i < rows->depth; i++)
        job.bound[i] = rows->bound[i];
    return cuda_check_rows(&job, run->lane->stream);
}

/* Only what the check reads is uploaded before it, so that it runs while the rest travels. */
static enum error_code start_check(struct run *run, struct error *error)
{
    struct lane *lane = run->lane;
    const struct plan *plan = run->plan;
    if (upload(run, BUFFER_INDICES, plan->indices, error) != ERROR_NONE ||
        (plan->segment_ids && upload(run, BUFFER_IDS, plan->segment_ids, error) != ERROR_NONE) ||
        (needs_division_check(plan) &&
         upload(run, BUFFER_VALUES, plan->values, error) != ERROR_NONE))
        return error->code;

    void *found = buffer(run, BUFFER_FOUND);
    if (failed(run, cudaMemsetAsync(found, 0, needs_found_bytes(plan), lane->stream),
               "cudaMemsetAsync", error) ||
        failed(run, launch_check(run), "launch of a check", error) ||
        failed(run,
               cudaMemcpyAsync(lane->verdict, found, sizeof *lane->verdict, cudaMemcpyDeviceToHost,
                               lane->stream),
               "cudaMemcpyAsync", error) ||
        failed(run, cudaEventRecord(lane->checked, lane->stream), "cudaEventRecord", error))
        return error->code;
    return ERROR_NONE;
}

static enum error_code start_rest(struct run *run, struct error *error)
{
    const struct plan *plan = run->plan;
    if (!needs_division_check(plan) &&
        upload(run, BUFFER_VALUES, plan->values, error) != ERROR_NONE)
        return error->code;
    if (plan->start)
        return upload(run, BUFFER_OUTPUT, plan->start, error);
    if (needs_zeros(plan) && failed(run,
                                    cudaMemsetAsync(buffer(run, BUFFER_OUTPUT), 0,
                                                    plan->output_bytes, run->lane->stream),
                                    "cudaMemsetAsync", error))
        return error->code;
    return ERROR_NONE;
}

static int64_t place(unsigned long long first)
{
    return (int64_t)~first;
}

/* What the device found, in the order of the checks; the sentences are those of every backend. */
static enum error_code judge(struct plan *plan, const struct verdict *verdict, struct error *error)
{
    if (verdict->first_unsorted)
        return fault_unsorted(plan, place(verdict->first_unsorted), error);
    if (verdict->first_negative)
        return fault_segment(plan, place(verdict->first_negative), error);
    if (verdict->first_beyond)
        return fault_segment(plan, place(verdict->first_beyond), error);
    if (verdict->bad && !plan->options.ignore_bad)
        return fault_index(plan, place(verdict->first_bad), error);
    if (verdict->first_zero)
        return fault_division(plan, place(verdict->first_zero), error);
    plan->ignored = (int64_t)verdict->bad;
    return ERROR_NONE;
}

/* ------------------------------------------------------------------------------------- applying */

static struct move move_job(const struct run *run)
{
    return (struct move){.out = buffer(run, BUFFER_OUTPUT),
                         .in = buffer(run, BUFFER_VALUES),
                         .row = buffer(run, BUFFER_ROWS),
                         .position = buffer(run, BUFFER_SOURCES),
                         .count = run->plan->rows.count,
                         .limit = (uint32_t)run->plan->rows.limit,
                         .row_bytes = run->row_bytes};
}

static cudaError_t apply_once(const struct run *run)
{
    const struct plan *plan = run->plan;
    cudaStream_t stream = run->lane->stream;
    struct move move = move_job(run);
    if (plan->values == &plan->inputs[0])
        return cuda_gather(&move, stream);
    if (plan->combine == COMBINE_SET)
        return cuda_put(&move, stream);
    if (plan->combine == COMBINE_OR)
        return cuda_or(&move, stream);
    struct scatter job = {.out = move.out,
                          .updates = move.in,
                          .row = move.row,
                          .count = move.count,
                          .width = plan->rows.width,
                          .limit = move.limit};
    return cuda_scatter(plan->combine, plan->dtype, &job, stream);
}

static cudaError_t sort_rows(const struct run *run, struct sort *job)
{
    *job = (struct sort){.key = buffer(run, BUFFER_ROWS),
                         .key_spare = buffer(run, BUFFER_ROWS_SPARE),
                         .position = buffer(run, BUFFER_SOURCES),
                         .position_spare = buffer(run, BUFFER_SOURCES_SPARE),
                         .temporary = buffer(run, BUFFER_SORT),
                         .temporary_bytes = run->lane->capacity[BUFFER_SORT],
                         .count = run->plan->rows.count,
                         .limit = (uint32_t)run->plan->rows.limit};
    return cuda_sort(job, run->lane->stream);
}

static struct runs runs_job(const struct run *run)
{
    const struct plan *plan = run->plan;
    return (struct runs){.out = buffer(run, BUFFER_OUTPUT),
                         .values = buffer(run, BUFFER_VALUES),
                         .key = buffer(run, BUFFER_ROWS),
                         .source = buffer(run, BUFFER_SOURCES),
                         .count = plan->rows.count,
                         .width = plan->rows.width};
}

static cudaError_t apply_sorted(const struct run *run)
{
    const struct plan *plan = run->plan;
    struct sort sorted;
    cudaError_t status = sort_rows(run, &sorted);
    if (status != cudaSuccess)
        return status;
    if (plan->combine == COMBINE_SET) {
        struct move move = move_job(run);
        move.row = sorted.key;
        move.position = sorted.position;
        return cuda_put_last(&move, run->lane->stream);
    }
    struct runs job = runs_job(run);
    job.key = sorted.key;
    job.source = sorted.position;
    job.keys = (uint32_t)plan->rows.limit;
    job.sources = (uint32_t)plan->rows.count;
    return cuda_scatter_runs(plan->combine, plan->dtype, &job, run->lane->stream);
}

static cudaError_t apply_segments(const struct run *run)
{
    struct runs job = runs_job(run);
    job.keys = (uint32_t)run->plan->output.shape[0];
    job.sources = (uint32_t)run->plan->rows.limit;
    job.finish = run->plan->op->finish;
    return cuda_segments(run->plan->dtype, &job, run->lane->stream);
}

static cudaError_t apply(const struct run *run)
{
    if (run->plan->segment_ids)
        return apply_segments(run);
    return run->lane->verdict->duplicates ? apply_sorted(run) : apply_once(run);
}

/* -------------------------------------------------------------------------------------- the run */

/* The host's memory is read and, at the very end, written; it is free again when this returns only
 * after lane_wait. */
static enum error_code run_stages(struct run *run, struct error *error)
{
    struct lane *lane = run->lane;
    if (start_check(run, error) != ERROR_NONE || start_rest(run, error) != ERROR_NONE)
        return error->code;
    if (failed(run, cudaEventSynchronize(lane->checked), "cudaEventSynchronize", error) ||
        judge(run->plan, lane->verdict, error) != ERROR_NONE)
        return error->code;
    if (plan_stopped(run->plan))
        return fault_cancelled(error);
    if (failed(run, apply(run), "launch of a kernel", error))
        return error->code;
    return lane_download(lane, run->plan->output.data, BUFFER_OUTPUT, run->plan->output_bytes,
                         run->plan, error);
}

static enum error_code run_plan(struct lane *lane, struct plan *plan, struct error *error)
{
    struct run run = {.lane = lane, .plan = plan};
    size_t needs[BUFFER_COUNT];
    plan->ignored = 0;
    run.row_bytes = (size_t)plan->rows.width * dtype_bytes(plan->dtype);
    if (failed(&run, cudaSetDevice(lane->device), "cudaSetDevice", error) ||
        failed(&run, needs_of(plan, needs), "cub::DeviceRadixSort", error) ||
        lane_reserve(lane, needs, error) != ERROR_NONE)
        return error->code;

    enum error_code code = run_stages(&run, error);
    struct error second;
    enum error_code waited = lane_wait(lane, code == ERROR_NONE ? error : &second);
    return code != ERROR_NONE ? code : waited;
}

static int device_count(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess)
        return count;
    (void)cudaGetLastError();
    return 0;
}

static size_t available(int device)
{
    size_t free_bytes = 0, total_bytes;
    if (cudaSetDevice(device) != cudaSuccess ||
        cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess)
        (void)cudaGetLastError();
    return free_bytes;
}

static bool is_broken(const struct lane *lane)
{
    return lane->broken;
}

const struct backend backend_of_cuda = {
    .name = "cuda",
    .devices = device_count,
    .available = available,
    .open = lane_open,
    .can_run = needs_fit,
    .memory = needs_total,
    .run = run_plan,
    .is_broken = is_broken,
    .close = lane_close,
};
