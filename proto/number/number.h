/* number: a tensor's elements <-> JSON numbers, exact both ways. Behind this header stands the only
 * C++ file outside kernels/cuda, over std::from_chars and std::to_chars, with shorter ways for the
 * texts and values that most tensors have. The grammar is JSON's (RFC 8259), which is narrower than
 * theirs. Nothing is allocated and nothing is remembered.
 *
 * Integers are exact to 64 bits, and a text such as 1.0 or 1e3 is one where its value is. Floats
 * are rounded to nearest, once, from the text to their own width. */
#ifndef PROTO_NUMBER_NUMBER_H
#define PROTO_NUMBER_NUMBER_H

#include "kernels/dtype.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum number_stop {
    NUMBER_END,   /* an element was read and no comma follows it: `at` is past it and its space */
    NUMBER_MORE,  /* the most were read and a comma was too: `at` starts the next element */
    NUMBER_NONE,  /* no JSON number starts at `at`, where an element must be */
    NUMBER_RANGE, /* the number at `at` is finite but the type does not reach so far */
    NUMBER_FRACTION, /* the number at `at` is not an integer, but the type is */
    NUMBER_INEXACT   /* of number_read_exact: the type does not have the integer at `at` */
};

struct number_run {
    const char *at;
    int64_t count; /* elements that were read */
    enum number_stop stop;
};

/* Reads a list of numbers "1, 2.5,3" from `text`, which starts with an element, up to `end`, and at
 * most `most` >= 1 of them, into `out` as elements of `dtype`. BOOL takes 0 and 1; complex types
 * and BYTES have no numbers. What follows the list is not judged. */
struct number_run number_read(enum dtype dtype, const char *text, const char *end, void *out,
                              int64_t most);

/* number_read of FP32, which takes integers (numbers of digits alone) only where they are exact:
 * 16777216, not 16777217. */
struct number_run number_read_exact(const char *text, const char *end, float *out, int64_t most);

/* The end of the JSON number that starts at `text`, or NULL when none does. */
const char *number_end(const char *text, const char *end);

/* The longest text of an element with the comma after it; for floats also of "-Infinity", with its
 * quotes. 0 for complex types and BYTES. */
size_t number_text_max(enum dtype dtype);

/* Prints elements, a comma after each, from *out on, moves *out past them, and returns how many. It
 * stops before the first float that is not finite. Floats: the shortest digits that read back to
 * the same bits, always with a point or an exponent. BOOL: true, false. `*out` has room for
 * count * number_text_max(dtype) bytes, and all of it may be written over. */
int64_t number_print(enum dtype dtype, const void *elements, int64_t count, char **out);

#ifdef __cplusplus
}
#endif

#endif
