#include "kernels/check.h"
#include "kernels/fault.h"
#include "kernels/flatten.h"

ALWAYS_INLINE bool holds_zero(const void *values, size_t bytes, int64_t from, int64_t to)
{
    unsigned zero = 0;
    for (int64_t i = from; i < to; i++)
        zero |= bytes == 1   ? ((const uint8_t *)values)[i] == 0
                : bytes == 2 ? ((const uint16_t *)values)[i] == 0
                : bytes == 4 ? ((const uint32_t *)values)[i] == 0
                             : ((const uint64_t *)values)[i] == 0;
    return zero;
}

static bool part_holds_zero(const struct tensor *t, int64_t from, int64_t to)
{
    switch (dtype_bytes(t->dtype)) {
    case 1:
        return holds_zero(t->data, 1, from, to);
    case 2:
        return holds_zero(t->data, 2, from, to);
    case 4:
        return holds_zero(t->data, 4, from, to);
    default:
        return holds_zero(t->data, 8, from, to);
    }
}

bool check_divides(const struct plan *plan)
{
    return plan->kind == PLAN_SCATTER && plan->combine == COMBINE_DIV &&
           DTYPES_INTEGERS >> plan->dtype & 1 && plan->rows.width > 0;
}

enum error_code check_division(const struct plan *plan, struct error *error)
{
    const struct rows *rows = &plan->rows;
    if (!check_divides(plan))
        return ERROR_NONE;
    for (int64_t k = 0; k < rows->count; k++) {
        if (k * rows->width % PLAN_STOP_ELEMENTS == 0 && plan_stopped(plan))
            return fault_cancelled(error);
        if (part_holds_zero(plan->values, k * rows->width, (k + 1) * rows->width) &&
            index_load(rows->destination, rows->destination_bits, k) >= 0)
            return fault_division(plan, k, error);
    }
    return ERROR_NONE;
}
