/* lane: a stream with its own buffers, and the edge where CUDA's errors become ours. */
#ifndef KERNELS_CUDA_LANE_H
#define KERNELS_CUDA_LANE_H

#include "kernels/backend.h"
#include "kernels/cuda/device.h"

/* The device's memory by what it holds. A buffer grows when a plan needs more and keeps what it
 * has. */
enum buffer {
    BUFFER_FOUND, /* struct verdict, then the bits of rows seen */
    BUFFER_INDICES,
    BUFFER_IDS,
    BUFFER_VALUES,
    BUFFER_OUTPUT,
    BUFFER_ROWS,
    BUFFER_SOURCES, /* segments: rows of the table; scatters: positions */
    BUFFER_ROWS_SPARE,
    BUFFER_SOURCES_SPARE,
    BUFFER_SORT,
    BUFFER_COUNT
};

/* Two pieces of pinned memory, made when the first large copy comes: while one is copied to or from
 * the device the host fills or empties the other. */
enum { LANE_PIECES = 2, LANE_PIECE_BYTES = 4 << 20 };

struct piece {
    void *data;
    cudaEvent_t done; /* the last copy from or to it */
};

struct lane {
    int device;
    cudaStream_t stream;
    size_t memory_bytes; /* most that the buffers may have together */
    void *buffers[BUFFER_COUNT];
    size_t capacity[BUFFER_COUNT];
    struct verdict *verdict; /* pinned */
    cudaEvent_t checked;     /* the verdict has arrived */
    struct piece pieces[LANE_PIECES];
    bool broken; /* every further call would fail: the context is lost */
};

/* Errors: RESOURCE_EXHAUSTED, INTERNAL. */
struct lane *lane_open(int device, size_t memory_bytes, struct error *error);
void lane_close(struct lane *lane);

/* Gives each buffer at least so many bytes; what they held is lost. Errors: RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code lane_reserve(struct lane *lane, const size_t needs[BUFFER_COUNT],
                                        struct error *error);

/* Makes the pieces, if they are not there yet. Errors: RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code lane_pin_pieces(struct lane *lane, struct error *error);

/* Whether `status` is a failure; then it is told as ours, with the name of the call. */
MUST_CHECK bool lane_failed(struct lane *lane, cudaError_t status, const char *call,
                            struct error *error);

/* Copies between host and device, in stream order. Of what is not pinned an upload has read all
 * bytes when it returns; a download has written them. What is pinned is in flight until the stream
 * is waited for. Errors: RESOURCE_EXHAUSTED, CANCELLED (between pieces, by plan->options.stop),
 * INTERNAL. */
MUST_CHECK enum error_code lane_upload(struct lane *lane, enum buffer to, const void *from,
                                       size_t bytes, const struct plan *plan, struct error *error);
MUST_CHECK enum error_code lane_download(struct lane *lane, void *to, enum buffer from,
                                         size_t bytes, const struct plan *plan,
                                         struct error *error);

/* Waits for all that the lane was given. */
MUST_CHECK enum error_code lane_wait(struct lane *lane, struct error *error);

#endif
