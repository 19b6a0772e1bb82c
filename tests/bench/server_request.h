/* server_request: the requests that are measured, as the bytes on the wire. */
#ifndef TESTS_BENCH_SERVER_REQUEST_H
#define TESTS_BENCH_SERVER_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum form {
    FORM_JSON,
    FORM_FRESH, /* JSON, an id and numbers of its own in every request */
    FORM_TURNS, /* JSON, of a different shape in every request */
    FORM_BINARY,
    FORM_SAFETENSORS,
    FORM_LOOKUP,
    FORM_NAMES /* lookups, in another kept table each */
};

struct wire_request {
    char *bytes; /* owned: head and body */
    size_t size;
    size_t body_offset;
};

/* tensor_scatter_add of 8 FP32 elements with 4 updates; the answer in the same form. */
bool wire_small(struct wire_request *r, enum form form);

/* How many requests a form has, and all of them. */
int wire_small_count(enum form form);
bool wire_small_all(struct wire_request *r, enum form form);

/* Little to send and much to do: sparse_segment_sum of 3,072 times the same row of 6,144 FP32,
 * binary both ways. */
bool wire_busy(struct wire_request *r);

/* tensor_scatter_add of 16 Mi FP32 elements (64 MiB) with 100,000 updates at random rows, binary
 * both ways. */
bool wire_large(struct wire_request *r);

/* The same of 1,000,000 random FP32 elements as JSON both ways, with 1,000 updates. *data_offset
 * and *data_size say where in the bytes the tensor's array stands. */
bool wire_json(struct wire_request *r, size_t *data_offset, size_t *data_size);

/* scatter_nd that keeps a table of 1,000,000 x 64 FP32 zeros, called `table`; tensor_scatter_add of
 * 10,000 rows into it; gather_nd of `rows` rows of it, binary both ways. */
bool wire_keep_table(struct wire_request *r);
bool wire_update(struct wire_request *r);
bool wire_lookup(struct wire_request *r, int rows);

/* scatter_nd that keeps a table of 100 x 64 FP32 zeros under the name that a request of FORM_NAMES
 * says in this turn. */
bool wire_keep_name(struct wire_request *r, int number);

/* A request whose body is so many zeros. */
bool wire_zeros(struct wire_request *r, size_t size);

void wire_release(struct wire_request *r);

#endif
