#include "kernels/cuda/run.h"
#include "kernels/check.h"
#include "kernels/cuda/needs.h"
#include "kernels/fault.h"

#include <assert.h>

static void *buffer(const struct run *run, enum buffer which)
{
    return run->lane->buffers[which];
}

static bool failed(struct run *run, cudaError_t status, const char *call, struct error *error)
{
    return lane_failed(run->lane, status, call, error);
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

/* Only what the check reads is uploaded before it, so that it runs while the rest travels. */
static enum error_code start_check(struct run *run, struct error *error)
{
    struct lane *lane = run->lane;
    const struct plan *plan = run->plan;
    if ((plan->indices && upload(run, BUFFER_INDICES, plan->indices, error) != ERROR_NONE) ||
        (plan->segment_ids && upload(run, BUFFER_IDS, plan->segment_ids, error) != ERROR_NONE) ||
        (check_divides(plan) && upload(run, BUFFER_VALUES, plan->values, error) != ERROR_NONE))
        return error->code;

    if (failed(run, run_launch_check(run), "launch of a check", error) ||
        failed(run,
               cudaMemcpyAsync(lane->verdict, buffer(run, BUFFER_FOUND), sizeof *lane->verdict,
                               cudaMemcpyDeviceToHost, lane->stream),
               "cudaMemcpyAsync", error) ||
        failed(run, cudaEventRecord(lane->checked, lane->stream), "cudaEventRecord", error))
        return error->code;
    return ERROR_NONE;
}

static enum error_code start_rest(struct run *run, struct error *error)
{
    const struct plan *plan = run->plan;
    if (!check_divides(plan) && upload(run, BUFFER_VALUES, plan->values, error) != ERROR_NONE)
        return error->code;
    if (plan->start)
        return upload(run, BUFFER_OUTPUT, plan->start, error);
    if (needs_empty(plan) && failed(run, run_launch_empty(run), "fill of the output", error))
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
    if (failed(run, run_launch_apply(run), "launch of a kernel", error))
        return error->code;
    return lane_download(lane, run->plan->output.data, BUFFER_OUTPUT, run->plan->output_bytes,
                         run->plan, error);
}

enum error_code run_prepare(struct run *run, struct lane *lane, struct plan *plan,
                            struct error *error)
{
    size_t needs[BUFFER_COUNT];
    *run = (struct run){.lane = lane,
                        .plan = plan,
                        .row_bytes = (size_t)plan->rows.width * dtype_bytes(plan->dtype)};
    if (failed(run, cudaSetDevice(lane->device), "cudaSetDevice", error) ||
        failed(run, needs_of(plan, needs), "cub::DeviceRadixSort", error))
        return error->code;
    return lane_reserve(lane, needs, error);
}

static enum error_code run_plan(struct lane *lane, struct plan *plan, struct error *error)
{
    struct run run;
    plan->ignored = 0;
    if (run_prepare(&run, lane, plan, error) != ERROR_NONE)
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

static bool pin(void *data, size_t bytes)
{
    bool pinned = cudaHostRegister(data, bytes, cudaHostRegisterPortable) == cudaSuccess;
    if (!pinned)
        (void)cudaGetLastError();
    return pinned;
}

static void unpin(void *data)
{
    if (cudaHostUnregister(data) != cudaSuccess)
        (void)cudaGetLastError();
}

static bool is_broken(const struct lane *lane)
{
    return lane->broken;
}

const struct backend backend_of_cuda = {
    .name = "cuda",
    .devices = device_count,
    .available = available,
    .pin = pin,
    .unpin = unpin,
    .open = lane_open,
    .has_kernel = needs_kernel,
    .can_run = needs_fit,
    .memory = needs_total,
    .run = run_plan,
    .is_broken = is_broken,
    .close = lane_close,
};
