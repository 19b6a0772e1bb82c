#include "kernels/cuda/lane.h"

#include <stdlib.h>

/* A context that is lost answers every call with the error that lost it. */
static bool context_is_lost(struct lane *lane)
{
    (void)cudaGetLastError();
    if (!lane->stream)
        return false;
    cudaError_t status = cudaStreamQuery(lane->stream);
    return status != cudaSuccess && status != cudaErrorNotReady;
}

bool lane_failed(struct lane *lane, cudaError_t status, const char *call, struct error *error)
{
    if (status == cudaSuccess)
        return false;
    lane->broken |= context_is_lost(lane);
    error_set(error,
              status == cudaErrorMemoryAllocation ? ERROR_RESOURCE_EXHAUSTED : ERROR_INTERNAL, NULL,
              "CUDA device %d: %s: %s", lane->device, call, cudaGetErrorString(status));
    return true;
}

static bool open_stream(struct lane *lane, struct error *error)
{
    if (lane_failed(lane, cudaSetDevice(lane->device), "cudaSetDevice", error))
        return false;
    /* A waiting thread sleeps: its core has other work. A device that will not have it spins. */
    (void)cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);
    (void)cudaGetLastError();
    return !lane_failed(lane, cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking),
                        "cudaStreamCreateWithFlags", error);
}

static bool open_event(struct lane *lane, cudaEvent_t *event, struct error *error)
{
    unsigned flags = cudaEventDisableTiming | cudaEventBlockingSync;
    return !lane_failed(lane, cudaEventCreateWithFlags(event, flags), "cudaEventCreateWithFlags",
                        error);
}

static bool open_pinned(struct lane *lane, void **data, size_t bytes, struct error *error)
{
    return !lane_failed(lane, cudaHostAlloc(data, bytes, cudaHostAllocDefault), "cudaHostAlloc",
                        error);
}

enum error_code lane_pin_pieces(struct lane *lane, struct error *error)
{
    for (int i = 0; i < LANE_PIECES; i++) {
        struct piece *piece = &lane->pieces[i];
        if ((!piece->data && !open_pinned(lane, &piece->data, LANE_PIECE_BYTES, error)) ||
            (!piece->done && !open_event(lane, &piece->done, error)))
            return error->code;
    }
    return ERROR_NONE;
}

struct lane *lane_open(int device, size_t memory_bytes, struct error *error)
{
    struct lane *lane = calloc(1, sizeof *lane);
    if (!lane) {
        error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for a lane");
        return NULL;
    }
    lane->device = device;
    lane->memory_bytes = memory_bytes;
    if (open_stream(lane, error) &&
        open_pinned(lane, (void **)&lane->verdict, sizeof *lane->verdict, error) &&
        open_event(lane, &lane->checked, error))
        return lane;
    lane_close(lane);
    return NULL;
}

static void release_buffers(struct lane *lane)
{
    for (int i = 0; i < BUFFER_COUNT; i++) {
        (void)cudaFree(lane->buffers[i]);
        lane->buffers[i] = NULL;
        lane->capacity[i] = 0;
    }
}

/* Nothing can be done about a failure here: with a lost context all of these fail. */
void lane_close(struct lane *lane)
{
    (void)cudaSetDevice(lane->device);
    if (lane->stream)
        (void)cudaStreamSynchronize(lane->stream);
    release_buffers(lane);
    for (int i = 0; i < LANE_PIECES; i++) {
        if (lane->pieces[i].done)
            (void)cudaEventDestroy(lane->pieces[i].done);
        (void)cudaFreeHost(lane->pieces[i].data);
    }
    if (lane->checked)
        (void)cudaEventDestroy(lane->checked);
    (void)cudaFreeHost(lane->verdict);
    if (lane->stream)
        (void)cudaStreamDestroy(lane->stream);
    (void)cudaGetLastError();
    free(lane);
}

/* Large buffers grow in steps of an eighth, so that slowly growing plans seldom find them full. */
static size_t grown(size_t bytes)
{
    enum { EXACT_BELOW = 2 << 20 };
    if (bytes < EXACT_BELOW)
        return bytes;
    size_t step = ((size_t)1 << (63 - __builtin_clzll(bytes))) / 8;
    return bytes > SIZE_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

static enum error_code grow(struct lane *lane, enum buffer buffer, size_t bytes,
                            struct error *error)
{
    (void)cudaFree(lane->buffers[buffer]);
    lane->buffers[buffer] = NULL;
    lane->capacity[buffer] = 0;
    if (lane_failed(lane, cudaMalloc(&lane->buffers[buffer], bytes), "cudaMalloc", error)) {
        release_buffers(lane);
        return error->code;
    }
    lane->capacity[buffer] = bytes;
    return ERROR_NONE;
}

/* Bytes that the buffers would have together; SIZE_MAX when that is too much to count. */
static size_t total_after(const struct lane *lane, const size_t needs[BUFFER_COUNT])
{
    size_t total = 0;
    for (int i = 0; i < BUFFER_COUNT; i++) {
        size_t bytes = lane->capacity[i] >= needs[i] ? lane->capacity[i] : grown(needs[i]);
        if (__builtin_add_overflow(total, bytes, &total))
            return SIZE_MAX;
    }
    return total;
}

static size_t sum(const size_t needs[BUFFER_COUNT])
{
    size_t total = 0;
    for (int i = 0; i < BUFFER_COUNT; i++)
        if (__builtin_add_overflow(total, needs[i], &total))
            return SIZE_MAX;
    return total;
}

enum error_code lane_reserve(struct lane *lane, const size_t needs[BUFFER_COUNT],
                             struct error *error)
{
    size_t total = sum(needs);
    if (total > lane->memory_bytes)
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                         "the operation needs %zu bytes of memory on CUDA device %d; one may use "
                         "%zu",
                         total, lane->device, lane->memory_bytes);
    bool exact = total_after(lane, needs) > lane->memory_bytes;
    if (exact)
        release_buffers(lane);
    for (int i = 0; i < BUFFER_COUNT; i++)
        if (lane->capacity[i] < needs[i] &&
            grow(lane, (enum buffer)i, exact ? needs[i] : grown(needs[i]), error) != ERROR_NONE)
            return error->code;
    return ERROR_NONE;
}

enum error_code lane_wait(struct lane *lane, struct error *error)
{
    if (lane_failed(lane, cudaStreamSynchronize(lane->stream), "cudaStreamSynchronize", error))
        return error->code;
    return ERROR_NONE;
}
