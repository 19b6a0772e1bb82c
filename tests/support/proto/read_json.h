/* read_json: one tensor's data, scanned and read as in a request. */
#ifndef TESTS_SUPPORT_PROTO_READ_JSON_H
#define TESTS_SUPPORT_PROTO_READ_JSON_H

#include "proto/json/tensor.h"
#include "tests/support/proto/test_memory.h"

#include <stdbool.h>

/* Data stands at this byte of its request. */
enum { READ_JSON_AT = 19 };

struct read_json {
    struct test_memory memory; /* its settings may be changed between init and data */
    bool untyped;              /* may be set between init and data */
    struct json_scan scan;
    struct tensor tensor; /* in: type, rank (-1: no shape), shape */
    struct error error;
    enum error_code code;
    bool bare;
    char *text;
};

/* rank -1: no shape. */
void read_json_init(struct read_json *r, enum dtype dtype, int rank, const int64_t *shape);

/* Reads data, written with ' for ", as the input "tensor". */
void read_json_data(struct read_json *r, const char *data);

void read_json_release(struct read_json *r);

/* Initialises rank and shape: SHAPE(2, 3), or NO_SHAPE, or SCALAR. */
#define SHAPE(...)                                                                                 \
    .rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .shape = {__VA_ARGS__}
#define NO_SHAPE .rank = -1
#define SCALAR   .rank = 0

#endif
