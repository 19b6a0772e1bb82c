/* json_reader: the state of reading a tensor's elements, and the errors found there. Private to
 * tensor_read.c and reader.c. */
#ifndef PROTO_JSON_READER_H
#define PROTO_JSON_READER_H

#include "kernels/error.h"
#include "kernels/tensor.h"
#include "proto/json/element.h"
#include "proto/json/scan.h"

struct json_reader {
    struct json_elements elements;
    const struct tensor *tensor; /* rank < 0: its shape is the nesting */
    const char *input;
    const struct json_scan *scan;
    const char *end; /* of the value */
    const struct work *work;
    struct error *error;
    char *data;
    int64_t count, room;     /* elements read, and the most that there can be */
    int64_t look;            /* the count at which to look at the stop flag again */
    bool flat;               /* one list, whatever the shape */
    int depth;               /* lists that are open */
    int leaf;                /* depth at which elements stand; -1: not seen yet */
    int64_t sizes[RANK_MAX]; /* of the lists at each depth; -1: not seen yet */
    int64_t seen[RANK_MAX];  /* members that were read of the list open at each depth */
};

/* Functions that set the error and return its code. `at` is the place in the text. */

/* INVALID_JSON. */
enum error_code json_reader_expected(const struct json_reader *r, const char *at,
                                     const char *expected);

/* The list of elements stopped at run.at, where the next one should be and is not. INVALID_JSON,
 * INVALID_FIELD, VALUE_OUT_OF_RANGE with its position, SHAPE_MISMATCH. */
enum error_code json_reader_element(const struct json_reader *r, struct number_run run);

/* SHAPE_MISMATCH: a list opens at `at`, where an element must stand. */
enum error_code json_reader_list(const struct json_reader *r, const char *at);

/* SHAPE_MISMATCH: an element stands at `at`, where a list must open. */
enum error_code json_reader_no_list(const struct json_reader *r, const char *at);

/* SIZE_MISMATCH: the shape has more elements than can be counted. */
enum error_code json_reader_overflow(const struct json_reader *r);

/* SHAPE_MISMATCH: the list that opens at `at` would be dimension RANK_MAX + 1. */
enum error_code json_reader_rank(const struct json_reader *r, const char *at);

/* The list that closes at `at` has not the size that it must have: SHAPE_MISMATCH, of a flat one
 * SIZE_MISMATCH. */
enum error_code json_reader_size(const struct json_reader *r, const char *at);

#endif
