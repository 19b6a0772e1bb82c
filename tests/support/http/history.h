/* history: what was done to kept tensors and what was answered, and a model that does it again with
 * plain loops, each write at the version that its answer named: what was read must be the model's
 * at the version that was named with it. */
#ifndef TESTS_SUPPORT_HTTP_HISTORY_H
#define TESTS_SUPPORT_HTTP_HISTORY_H

#include "kernels/op.h"
#include "kernels/tensor.h"

#include <stdbool.h>
#include <stdint.h>

/* A version of a resident; generation 0: none. Names do not matter: a resident may be moved. */
struct stamp {
    uint64_t generation, version;
};

enum deed {
    DEED_PUT,     /* inputs[0] became a resident */
    DEED_ASSIGN,  /* inputs[0] became its rows from `from` on */
    DEED_OPERATE, /* `op` was run, its result became a resident or `output` */
    DEED_READ,    /* its rows from `from` on were `output` */
    DEED_SEE      /* nothing but the version was told, or that it is gone */
};

struct event {
    enum deed deed;
    enum dtype dtype;                    /* of what was written or read */
    struct stamp made;                   /* by a write */
    struct stamp seen;                   /* by DEED_READ, DEED_SEE */
    const struct op *op;                 /* DEED_OPERATE */
    bool ignore_bad;                     /* the same */
    struct stamp read[OP_INPUTS_MAX];    /* inputs that are residents */
    struct tensor inputs[OP_INPUTS_MAX]; /* the others: data owned */
    struct tensor output;                /* data owned; DTYPE_NONE: not sent */
    int64_t from;
    bool was_refused; /* nothing was applied, nothing is compared */
};

/* What was compared, by operation and by type. */
struct tally {
    int64_t writes, reads, refused;
    int64_t ops[64], dtypes[DTYPE_COUNT];
};

/* Whether the model agrees with all of them; it says where it does not. Every version of every
 * generation from 1 on must have been made, once. Adds to the tally. */
bool history_agrees(const struct event *const *events, int count, struct tally *tally);

void event_release(struct event *event);

#endif
