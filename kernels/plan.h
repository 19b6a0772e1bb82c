/* plan: what a backend executes. Made from an op and its inputs without touching their elements,
 * except the few that decide a shape (scatter_nd's `shape`, num_segments, the last segment id).
 *
 * Order of checks, here and in the backend's run: element types, ranks and shapes, sizes (all in
 * plan_make); segment ids, indices, division by zero, bytes of a BYTES output (all in run, before
 * anything is written).
 *
 * Life: plan_make -> plan_use_threads, where the number of threads is chosen by the plan -> the
 * caller finds memory (plan.output.data, plan.scratch) -> backend run -> the caller reads
 * plan.output, plan.ignored. A plan owns nothing. */
#ifndef KERNELS_PLAN_H
#define KERNELS_PLAN_H

#include "kernels/error.h"
#include "kernels/machine.h"
#include "kernels/op.h"
#include "kernels/tensor.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan_options {
    size_t output_limit; /* bytes that an output may have */
    bool ignore_bad;     /* bad_indices_policy: leave bad rows out and count them */
    int threads;         /* cores that the run may use, at least 1; see plan_use_threads */
    unsigned read_only;  /* bit i: run must not write the elements of input i */
    const struct machine *machine; /* that it runs on; NULL: machine_typical */
    const atomic_bool *stop; /* when it turns true the run ends early with CANCELLED; NULL: never */
};

/* What a kernel does with row number k. The plan function of an operation says it, and nobody else
 * guesses. */
enum plan_kind {
    PLAN_SCATTER, /* row k of the values combines into row destination[k] of the output, which is
                     finished by how many did */
    PLAN_GATHER,  /* row k of the output is row destination[k] of the values */
    PLAN_SEGMENT  /* row destination[k] of the values combines into row segment[k] of the output;
                     the segments are sorted, so that those of one row stand together */
};

struct rows {
    int64_t count;           /* N: rows of the indices, or segment ids */
    int64_t width;           /* elements in a row (complex: floats) */
    int depth;               /* D: components of an index tuple */
    int64_t bound[RANK_MAX]; /* the D dimensions that a tuple addresses */
    int64_t limit;           /* product of bound: rows addressed */
    const void *destination; /* N row numbers, a negative one for a row left out; made by run's
                                check: the indices themselves where D = 1. NULL: k itself */
    int destination_bits;    /* of a row number: 32 or 64; 0 where destination is NULL */
    const void *segment;     /* PLAN_SEGMENT: N sorted row numbers; made by run's check */
    int segment_bits;        /* 32 or 64 */
    bool left_out;           /* some destination is negative; by run's check */
};

struct plan {
    const struct op *op;
    struct tensor inputs[OP_INPUTS_MAX]; /* copies of the views given; the elements of tensor and
                                            indices may be overwritten by run */
    struct plan_options options;
    enum plan_kind kind;
    enum combine
        combine;      /* op->combine, or what it means for this dtype (BOOL: OR, BYTES: CONCAT) */
    enum dtype dtype; /* what kernels compute in (complex: FP32, FP64) */
    struct rows rows;
    const struct tensor *start;   /* what the output starts from (in inputs[]), or NULL for zeros */
    const struct tensor *values;  /* updates, params or data (in inputs[]) */
    const struct tensor *indices; /* (in inputs[]); NULL: row k of the values is meant */
    const char *indices_name;     /* of that input */
    bool tuples;                  /* the last dimension of the indices is a tuple's */
    const struct tensor *table;   /* whose rows the indices address: an input, or the output */
    const char *table_name;
    const struct tensor *segment_ids; /* (in inputs[]); NULL: there are none. Of a PLAN_SCATTER they
                                         are the destinations */
    bool ids_in_any_order; /* a negative one drops its row; else they must not decrease */
    bool segments_given;   /* by num_segments */
    bool from_first;       /* PLAN_SCATTER: an element starts from its first update */
    unsigned char
        empty[8]; /* an element of `dtype` that no update reaches, where there is no start */
    struct tensor output; /* dtype and shape by plan_make; `data` by the caller */
    size_t output_bytes;  /* in memory; for BYTES the spans */
    size_t scratch_bytes; /* what run needs at `scratch` besides, aligned to TENSOR_ALIGNMENT */
    size_t flat_bytes;    /* of them, at the start: flattened row numbers; 0: made in place */
    size_t sums_bytes;    /* of them, next: sums of half types, until they are divided */
    void *scratch;
    size_t
        touched_bytes; /* estimate of what run reads and writes, for the choice of where to run */
    int64_t ignored;   /* rows left out under ignore_bad; by run */
};

/* Scratch behind the row numbers: the kernels' own. */
static inline void *plan_kernel_scratch(const struct plan *plan)
{
    return (char *)plan->scratch + plan->flat_bytes;
}

static inline const struct machine *plan_machine(const struct plan *plan)
{
    return plan->options.machine ? plan->options.machine : &machine_typical;
}

/* Work looks at plan.options.stop about every so many elements. */
enum { PLAN_STOP_ELEMENTS = 65536 };

static inline bool plan_stopped(const struct plan *plan)
{
    const atomic_bool *stop = plan->options.stop;
    return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

/* By what a kernel is chosen. */
struct kernel_key {
    enum plan_kind kind;
    enum combine combine;
    enum dtype dtype;
    enum finish finish;
    bool from_first;
};

/* Whether a kernel can do such plans right, should a backend have one: only floats are divided at
 * the end, and of a scatter only sums; a zero among the divisors of a segment is not looked for; a
 * scatter that starts from the first update applies it once more. */
bool kernel_key_is_sound(const struct kernel_key *key);

/* The kernel of a plan like this one, for elements of a type: none knows complex numbers, and to
 * add is another thing for BOOL and BYTES. */
struct kernel_key plan_kernel_key(const struct plan *plan, enum dtype dtype);

/* Checks dtypes, ranks, shapes and sizes and fills the plan. inputs: OP_INPUTS_MAX views in the
 * op's order, absent ones DTYPE_NONE; `required` of them must be there. The views are copied, their
 * elements are not. Errors: MISSING_INPUT UNSUPPORTED_DTYPE SHAPE_MISMATCH SIZE_MISMATCH
 * VALUE_OUT_OF_RANGE OUTPUT_TOO_LARGE. */
MUST_CHECK enum error_code plan_make(struct plan *plan, const struct op_name *name,
                                     const struct tensor *inputs,
                                     const struct plan_options *options, struct error *error);

/* The run may use so many threads instead, at least 1: decides scratch_bytes and flat_bytes
 * anew. */
void plan_use_threads(struct plan *plan, int threads);

/* The part of plan_make that looks at element types, for a decoder that is about to read the
 * elements: a wrong type is reported before a wrong shape or size, with those of the `known` types
 * that the op accepts. Inputs may be missing. Errors: UNSUPPORTED_DTYPE. */
MUST_CHECK enum error_code plan_check_types(const struct op_name *name, const struct tensor *inputs,
                                            dtype_set known, struct error *error);

/* The input whose bytes the output may take over: its number when the op starts from a copy, else
 * -1. The caller sets plan->output.data = plan->inputs[i].data for a result made in place. */
int plan_in_place_input(const struct plan *plan);

#endif
