#include "proto/request/frame.h"

#include "proto/request/request.h"

#include <stdint.h>
#include <string.h>

enum { STOP_EVERY = 64 * 1024 };

static const unsigned char alignments[DTYPE_COUNT] = {
#define X(ID, id, T, A, BYTES, V2, SAFE) [DTYPE_##ID] = _Alignof(T),
    DTYPE_TABLE(X)
#undef X
};

/* Memory for a tensor's elements, with the head room that a value input has. */
static void *get_elements(const struct work *work, size_t bytes)
{
    char *block = work->memory->get(work->memory, ANSWER_HEAD_ROOM + bytes);
    return block ? block + ANSWER_HEAD_ROOM : NULL;
}

static enum error_code no_memory(const char *input, size_t bytes, struct error *error)
{
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, input,
                     "there is no memory for the %zu bytes of %s", bytes, input);
}

static enum error_code view_numbers(struct tensor *t, const char *input, char *at, size_t bytes,
                                    const struct work *work, struct error *error)
{
    size_t needed;
    char shape[SHAPE_TEXT_MAX];
    if (!tensor_bytes(t, &needed))
        return error_set(error, ERROR_SIZE_MISMATCH, input,
                         "the size of %s, %s of shape %s, does not fit in 64 bits", input,
                         dtype_name(t->dtype), shape_print(shape, t->shape, t->rank));
    if (needed != bytes)
        return error_set(error, ERROR_SIZE_MISMATCH, input,
                         "%s has %zu bytes, but %s of shape %s needs %zu", input, bytes,
                         dtype_name(t->dtype), shape_print(shape, t->shape, t->rank), needed);
    t->data = at;
    if ((uintptr_t)at % alignments[t->dtype] == 0)
        return ERROR_NONE;
    t->data = get_elements(work, bytes);
    if (!t->data)
        return no_memory(input, bytes, error);
    memcpy(t->data, at, bytes);
    return ERROR_NONE;
}

/* Fills `count` spans from the packed elements; they must end where the bytes do. */
static enum error_code walk(struct span *spans, int64_t count, const char *input, const char *at,
                            size_t bytes, const struct work *work, struct error *error)
{
    size_t left = bytes;
    for (int64_t i = 0; i < count; i++) {
        uint32_t size = 0;
        if (i % STOP_EVERY == 0 && work_stopped(work))
            return error_set(error, ERROR_CANCELLED, input, "stopped while reading %s", input);
        if (left >= BYTES_SIZE_BYTES)
            memcpy(&size, at, BYTES_SIZE_BYTES);
        if (left < BYTES_SIZE_BYTES || size > left - BYTES_SIZE_BYTES)
            return error_set(error, ERROR_SIZE_MISMATCH, input,
                             "%s has %zu bytes, which end within element %lld of %lld", input,
                             bytes, (long long)i, (long long)count);
        spans[i] = (struct span){at + BYTES_SIZE_BYTES, size};
        at += BYTES_SIZE_BYTES + size;
        left -= BYTES_SIZE_BYTES + size;
    }
    if (left > 0)
        return error_set(error, ERROR_SIZE_MISMATCH, input,
                         "%s has %zu bytes, %zu more than its %lld elements take", input, bytes,
                         left, (long long)count);
    return ERROR_NONE;
}

static enum error_code view_bytes(struct tensor *t, const char *input, char *at, size_t bytes,
                                  const struct work *work, struct error *error)
{
    int64_t count;
    char shape[SHAPE_TEXT_MAX];
    /* An element takes 4 bytes at least, so a wild shape is refused before it costs memory. */
    if (!tensor_count(t, &count) || (uint64_t)count > bytes / BYTES_SIZE_BYTES)
        return error_set(error, ERROR_SIZE_MISMATCH, input,
                         "%s has %zu bytes, too few for BYTES of shape %s", input, bytes,
                         shape_print(shape, t->shape, t->rank));
    size_t spans_bytes = (size_t)count * sizeof(struct span);
    t->data = get_elements(work, spans_bytes);
    if (!t->data)
        return no_memory(input, spans_bytes, error);
    return walk(t->data, count, input, at, bytes, work, error);
}

enum error_code frame_view(struct tensor *t, const char *input, char *at, size_t bytes,
                           const struct work *work, struct error *error)
{
    return t->dtype == DTYPE_BYTES ? view_bytes(t, input, at, bytes, work, error)
                                   : view_numbers(t, input, at, bytes, work, error);
}

enum error_code frame_take(struct frame *frame, struct tensor *t, const char *input, size_t bytes,
                           const struct work *work, struct error *error)
{
    if (bytes > frame->left)
        return error_set(error, ERROR_SIZE_MISMATCH, input,
                         "binary_data_size of %s is %zu, but only %zu bytes are left in the body",
                         input, bytes, frame->left);
    enum error_code code = frame_view(t, input, frame->at, bytes, work, error);
    if (code)
        return code;
    frame->at += bytes;
    frame->left -= bytes;
    return ERROR_NONE;
}

enum error_code frame_end(const struct frame *frame, struct error *error)
{
    if (frame->left == 0)
        return ERROR_NONE;
    return error_set(error, ERROR_SIZE_MISMATCH, NULL,
                     "the body has %zu bytes after the tensors that its inputs announce with "
                     "binary_data_size",
                     frame->left);
}
