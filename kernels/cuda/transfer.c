#include "kernels/cuda/lane.h"
#include "kernels/fault.h"

#include <string.h>

/* Up to this size the driver copies the bytes at once and does not make us wait. */
enum { SMALL_BYTES = 64 << 10 };

static bool is_pinned(const void *data)
{
    struct cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    return attributes.type == cudaMemoryTypeHost;
}

static size_t piece_bytes(size_t bytes, size_t at)
{
    return bytes - at < LANE_PIECE_BYTES ? bytes - at : LANE_PIECE_BYTES;
}

static bool wait_for_piece(struct lane *lane, const struct piece *piece, struct error *error)
{
    return !lane_failed(lane, cudaEventSynchronize(piece->done), "cudaEventSynchronize", error);
}

static bool copy_piece(struct lane *lane, void *to, const void *from, size_t bytes,
                       enum cudaMemcpyKind kind, const struct piece *piece, struct error *error)
{
    return !lane_failed(lane, cudaMemcpyAsync(to, from, bytes, kind, lane->stream),
                        "cudaMemcpyAsync", error) &&
           !lane_failed(lane, cudaEventRecord(piece->done, lane->stream), "cudaEventRecord", error);
}

/* A copy of all bytes at once. */
static enum error_code copy_whole(struct lane *lane, void *to, const void *from, size_t bytes,
                                  enum cudaMemcpyKind kind, struct error *error)
{
    if (lane_failed(lane, cudaMemcpyAsync(to, from, bytes, kind, lane->stream), "cudaMemcpyAsync",
                    error))
        return error->code;
    return ERROR_NONE;
}

enum error_code lane_upload(struct lane *lane, enum buffer to, const void *from, size_t bytes,
                            const struct plan *plan, struct error *error)
{
    if (bytes == 0)
        return ERROR_NONE;
    if (bytes <= SMALL_BYTES || is_pinned(from))
        return copy_whole(lane, lane->buffers[to], from, bytes, cudaMemcpyHostToDevice, error);
    if (lane_pin_pieces(lane, error) != ERROR_NONE)
        return error->code;

    for (size_t at = 0, i = 0; at < bytes; at += LANE_PIECE_BYTES, i++) {
        const struct piece *piece = &lane->pieces[i % LANE_PIECES];
        if (plan_stopped(plan))
            return fault_cancelled(error);
        if (!wait_for_piece(lane, piece, error))
            return error->code;
        memcpy(piece->data, (const char *)from + at, piece_bytes(bytes, at));
        if (!copy_piece(lane, (char *)lane->buffers[to] + at, piece->data, piece_bytes(bytes, at),
                        cudaMemcpyHostToDevice, piece, error))
            return error->code;
    }
    return ERROR_NONE;
}

/* Asks for the piece that starts at `at`; nothing when all have been asked for. */
static bool fetch_piece(struct lane *lane, enum buffer from, size_t bytes, size_t at,
                        struct error *error)
{
    if (at >= bytes)
        return true;
    const struct piece *piece = &lane->pieces[at / LANE_PIECE_BYTES % LANE_PIECES];
    return copy_piece(lane, piece->data, (const char *)lane->buffers[from] + at,
                      piece_bytes(bytes, at), cudaMemcpyDeviceToHost, piece, error);
}

enum error_code lane_download(struct lane *lane, void *to, enum buffer from, size_t bytes,
                              const struct plan *plan, struct error *error)
{
    if (bytes == 0)
        return ERROR_NONE;
    if (bytes <= SMALL_BYTES || is_pinned(to))
        return copy_whole(lane, to, lane->buffers[from], bytes, cudaMemcpyDeviceToHost, error);

    if (lane_pin_pieces(lane, error) != ERROR_NONE || !fetch_piece(lane, from, bytes, 0, error))
        return error->code;
    for (size_t at = 0; at < bytes; at += LANE_PIECE_BYTES) {
        const struct piece *piece = &lane->pieces[at / LANE_PIECE_BYTES % LANE_PIECES];
        if (plan_stopped(plan))
            return fault_cancelled(error);
        if (!fetch_piece(lane, from, bytes, at + LANE_PIECE_BYTES, error) ||
            !wait_for_piece(lane, piece, error))
            return error->code;
        memcpy((char *)to + at, piece->data, piece_bytes(bytes, at));
    }
    return ERROR_NONE;
}
