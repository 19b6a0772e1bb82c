/* work: the means of a decoder or an encoder: memory that lives as long as its request, cores, and
 * the flag that says to stop. */
#ifndef PROTO_WORK_H
#define PROTO_WORK_H

#include "kernels/dtype.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Writable bytes in front of a body and of every value input, where response.h writes the head of
 * an answer whose result was made in place. */
enum { ANSWER_HEAD_ROOM = 4096 };

/* Gives memory that is freed as a whole when the request is. TENSOR_ALIGNMENT-aligned, contents
 * undefined; NULL when there is none (RESOURCE_EXHAUSTED). */
struct memory {
    void *(*get)(struct memory *memory, size_t bytes);
};

struct recall; /* recall.h */

/* The tensors that the server keeps, as far as a decoder must know them. */
struct directory {
    /* The element type of the tensor of that name as of now; DTYPE_NONE: there is none. */
    enum dtype (*dtype_of)(struct directory *directory, const char *name);
};

struct work {
    struct memory *memory;
    struct recall *recall;       /* of the thread that decodes; NULL: none */
    struct directory *directory; /* NULL: none are kept */
    int threads;                 /* at least 1 */
    const atomic_bool *stop;     /* read about every 64 Ki elements; NULL: never */
};

/* Whether the flag is up: the work ends with CANCELLED. */
static inline bool work_stopped(const struct work *work)
{
    return work->stop && atomic_load_explicit(work->stop, memory_order_relaxed);
}

#endif
