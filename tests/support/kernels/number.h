/* number: elements of any type as one kind of value, for references that are written to be read. */
#ifndef TESTS_SUPPORT_KERNELS_NUMBER_H
#define TESTS_SUPPORT_KERNELS_NUMBER_H

#include "kernels/tensor.h"

#include <stdbool.h>

/* An integer of any type, or a float of any type; the other member is 0. */
struct number {
    __int128 i;
    double f;
};

bool number_is_float(enum dtype d);

/* Element i of a tensor that is not BYTES. Complex tensors are twice as many floats. */
struct number number_load(const struct tensor *t, int64_t i);

/* Integers wrap, floats are rounded once. */
void number_store(struct tensor *t, int64_t i, struct number v);

/* Rounds once, to nearest even, to the bits of FP16 or BF16. */
uint16_t number_round(double v, enum dtype dtype);

#endif
