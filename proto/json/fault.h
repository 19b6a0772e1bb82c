/* json_fault: errors that readers of JSON have in common. Private to proto/json/. */
#ifndef PROTO_JSON_FAULT_H
#define PROTO_JSON_FAULT_H

#include "kernels/error.h"
#include "proto/json/string.h"
#include "proto/work.h"

#include <stdbool.h>
#include <stddef.h>

/* Says "byte 7 is 'x'; expected ..." and returns INVALID_JSON. */
enum error_code json_fault_say(const struct json_fault *fault, const char *text, const char *end,
                               const char *input, struct error *error);

/* RESOURCE_EXHAUSTED for memory that is to hold `what`. */
enum error_code json_fault_memory(size_t bytes, const char *what, const char *input,
                                  struct error *error);

/* The multi-index of element k of a tensor, and its rank. What lies beyond the tensor's last
 * element gets an index beyond the first dimension. */
int json_position(int64_t *position, const int64_t *shape, int rank, int64_t k);

/* Adds where the fault is to an error that was said. */
void json_fault_place(struct error *error, const int64_t *position, int rank);

/* CANCELLED. */
enum error_code json_fault_stopped(const char *input, struct error *error);

/* What was expected at `at`: a hint where a number stands that is none of JSON's (01, +1, .5), else
 * `other`. */
static inline const char *json_expected(const char *at, const char *end, const char *other)
{
    bool like = at != end && ((*at >= '0' && *at <= '9') || *at == '-' || *at == '+' || *at == '.');

    return like ? "a number as JSON writes it: no zero or plus in front, digits around a point"
                : other;
}

#endif
