/* op: the table of operations (OPERATIONS in the README). An operation is a row: its names, its
 * inputs, the element types it takes, where its output starts, how an update combines, how a row is
 * finished, and the function that plans it. An alias is the same row under another name. */
#ifndef KERNELS_OP_H
#define KERNELS_OP_H

#include "kernels/combine.h"
#include "kernels/dtype.h"
#include "kernels/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { OP_INPUTS_MAX = 4, OP_NAMES_MAX = 5 };

/* Room for that many rows in arrays that have an element for each; a fuller table does not
 * compile. */
enum { OPS_MAX = 31 };

enum start { START_EMPTY, START_COPY };

enum finish { FINISH_NONE, FINISH_MEAN, FINISH_SQRT_N };

/* What an output row holds that no update reached: zeros, or the column EMPTY of the combine. An
 * output that is no copy starts from it. */
enum empty { EMPTY_ZEROS, EMPTY_OF_COMBINE };

struct plan;

/* The ranks that an input may have. */
struct op_ranks {
    int least, most;
};

/* A name that an operation answers to. */
struct op_alias {
    const char *text; /* NULL after the last */
    int size;         /* of text, without its terminator */
    int required;     /* of the inputs; all four for the *_with_num_segments names */
};

struct op {
    const char *name;                        /* canonical: metrics, logs */
    struct op_alias names[OP_NAMES_MAX + 1]; /* all names, the canonical one first */
    const char *inputs[OP_INPUTS_MAX];       /* in order; NULL after the last */
    struct op_ranks ranks[OP_INPUTS_MAX];    /* of the inputs, for those who describe the op */
    int required;                            /* the first `required` inputs must be there */
    unsigned values;  /* bit i: inputs[i] holds elements of `dtypes`; the others hold integers */
    dtype_set dtypes; /* of the value inputs (tensor, updates, params, data) */
    enum start start;
    enum combine combine;
    enum finish finish;
    enum empty empty;
    enum error_code (*plan)(struct plan *plan, struct error *error);
};

/* A row found under one of its names. */
struct op_name {
    const char *name; /* the name asked for, static */
    const struct op *op;
    int required; /* of the inputs; more than op->required for the *_with_num_segments names */
};

/* Finds canonical names and aliases alike; false when nothing has that name. Called for each
 * request: it compares lengths before letters. `size` bytes, no terminator needed. */
bool op_find(const char *name, size_t size, struct op_name *found);

/* Rows in table order, for lists. */
int op_count(void);
const struct op *op_at(int i);

/* Other names of input i, NULL after the last: the frameworks call a first tensor so. */
const char *const *op_input_aliases(const struct op *op, int i);

/* Which input is called that, by its own name or an alias: its number, or -1. */
int op_input(const struct op *op, const char *name, size_t size);

/* The number of inputs that the row has. */
int op_inputs(const struct op *op);

/* Number (in op->inputs) of the first tensor, the one that decides the element type: tensor,
 * params, data, or updates for scatter_nd. */
int op_value_input(const struct op *op);

/* Element types that input i accepts: `dtypes` for values, INT32 and INT64 for the others. */
dtype_set op_input_dtypes(const struct op *op, int i);

#endif
