/* golden: the cases of tests/golden/NAME.jsonl, requests with the answers of the real libraries,
 * read by a small reader of their own: nothing of proto/ is trusted here. A file that is not as
 * expected ends the test. */
#ifndef TESTS_SUPPORT_GOLDEN_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_GOLDEN_H

#include "kernels/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { GOLDEN_INPUTS_MAX = 4 };

/* A named tensor. BYTES are an array of struct span, FP16 and BF16 their bits. */
struct golden_tensor {
    const char *name;
    struct tensor tensor;
    size_t size_bytes; /* of tensor.data */
};

/* Members that the file does not have are NULL, or rank -1: they are not compared. */
struct golden_error {
    const char *code;
    const char *input;
    int position_rank, index_rank, bound_rank;
    int64_t position[RANK_MAX], index[RANK_MAX], bound[RANK_MAX];
};

struct golden_case {
    const char *name;
    const char *op;
    const char *policy; /* bad_indices_policy; "" when not given */
    int input_count;
    struct golden_tensor inputs[GOLDEN_INPUTS_MAX];
    bool fails; /* `error` is expected, else `output` */
    struct golden_tensor output;
    struct golden_error error;
};

struct golden {
    FILE *file;
    char *line; /* owned, of the current case */
    size_t line_size;
    char *memory; /* owned: what the current case points to */
    size_t memory_size, memory_used;
};

/* The files: one for each row of the op table, under its name, and the edge cases. Each has at
 * least GOLDEN_CASES_MIN cases; one that is missing ends the test that opens it. */
enum { GOLDEN_FILES_MAX = 64, GOLDEN_CASES_MIN = 100 };
int golden_files(void);
const char *golden_file_at(int i);

/* Opens e.g. tests/golden/scatter_nd.jsonl. Tests run in the root of the tree. */
void golden_open(struct golden *g, const char *path);

/* Reads the next case, which is valid until the next call; false at the end. */
bool golden_next(struct golden *g, struct golden_case *c);

void golden_close(struct golden *g);

/* Whether the elements are the same bit for bit, but that every NaN equals every NaN. Same dtypes
 * and shapes are needed too. */
bool golden_equal(const struct tensor *a, const struct tensor *b);

/* The number of real elements: complex ones count twice. */
int64_t golden_numbers(const struct tensor *t);

#endif
