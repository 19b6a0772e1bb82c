#include "proto/json/fault.h"

#include <string.h>

enum error_code json_fault_say(const struct json_fault *fault, const char *text, const char *end,
                               const char *input, struct error *error)
{
    size_t offset = (size_t)(fault->at - text);

    if (fault->at == end)
        return error_set(error, ERROR_INVALID_JSON, input,
                         "the JSON text ends at byte %zu; expected %s", offset, fault->expected);
    unsigned char c = (unsigned char)*fault->at;
    return error_set(error, ERROR_INVALID_JSON, input,
                     c >= 0x20 && c < 0x7F ? "byte %zu of the JSON text is '%c'; expected %s"
                                           : "byte %zu of the JSON text is 0x%02x; expected %s",
                     offset, c, fault->expected);
}

enum error_code json_fault_memory(size_t bytes, const char *what, const char *input,
                                  struct error *error)
{
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, input,
                     "there is no memory for %zu bytes of %s", bytes, what);
}

int json_position(int64_t *position, const int64_t *shape, int rank, int64_t k)
{
    for (int i = rank - 1; i > 0; i--) {
        position[i] = shape[i] > 0 ? k % shape[i] : 0;
        k = shape[i] > 0 ? k / shape[i] : k;
    }
    if (rank > 0)
        position[0] = k;
    return rank;
}

void json_fault_place(struct error *error, const int64_t *position, int rank)
{
    struct fault *fault = &error->faults[0];

    *fault = (struct fault){.position_rank = rank, .axis = -1};
    memcpy(fault->position, position, (size_t)rank * sizeof(*position));
    error->fault_count = 1;
}

enum error_code json_fault_stopped(const char *input, struct error *error)
{
    return error_set(error, ERROR_CANCELLED, input, "the work was stopped before it was done");
}
