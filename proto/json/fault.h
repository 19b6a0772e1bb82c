/* json_fault: errors that readers of JSON have in common. Private to proto/json/. */
#ifndef PROTO_JSON_FAULT_H
#define PROTO_JSON_FAULT_H

#include "kernels/error.h"
#include "proto/json/string.h"
#include "proto/work.h"

#include <stdbool.h>
#include <stddef.h>

/* What was expected where JSON_DEPTH_MAX arrays and objects are open and another one comes. */
#define JSON_DEPTH_EXPECTED "at most 32 arrays and objects in one another"

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

/* Whether the flag that says to stop is up. */
static inline bool json_stopped(const struct work *work)
{
    return work->stop && atomic_load_explicit(work->stop, memory_order_relaxed);
}

/* What was expected at `at`, where something of another grammar's numbers may stand, or `other`. */
static inline const char *json_expected(const char *at, const char *end, const char *other)
{
    bool like = at != end && ((*at >= '0' && *at <= '9') || *at == '-' || *at == '+' || *at == '.');

    return like ? "a number as JSON writes it: no zero or plus in front, digits around a point"
                : other;
}

/* JSON's space. */
static inline const char *json_space(const char *at, const char *end)
{
    while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

#endif
