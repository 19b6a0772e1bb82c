/* reference: every operation as a plain loop, written to be read, not to be fast. It shares no text
 * with kernels/. */
#ifndef TESTS_SUPPORT_KERNELS_REFERENCE_H
#define TESTS_SUPPORT_KERNELS_REFERENCE_H

#include "kernels/error.h"
#include "kernels/tensor.h"

#include <stdbool.h>

struct reference {
    enum error_code code; /* INDEX_OUT_OF_BOUNDS and DIVISION_BY_ZERO are found, nothing else */
    int64_t row;          /* the first row at fault */
    int64_t ignored;
    struct tensor output; /* data owned; BYTES: the text of each span too */
};

/* inputs in the op's order, valid in types and shapes; segment ids in order where they must be,
 * none above the last segment; op by its canonical name. */
void reference_run(struct reference *r, const char *op, const struct tensor *inputs,
                   bool ignore_bad);

void reference_release(struct reference *r);

#endif
