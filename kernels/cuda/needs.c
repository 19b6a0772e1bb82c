#include "kernels/cuda/needs.h"

#include <assert.h>
#include <string.h>

bool needs_fit(const struct plan *plan)
{
    return plan->dtype != DTYPE_BYTES && plan->rows.count <= INT32_MAX &&
           plan->rows.limit <= INT32_MAX &&
           (plan->kind != PLAN_SEGMENT || plan->output.shape[0] <= INT32_MAX);
}

bool needs_kernel(const struct kernel_key *key)
{
    bool stays_on_cpu = key->dtype == DTYPE_BYTES;
    bool moves =
        key->kind == PLAN_GATHER || (key->kind == PLAN_SCATTER && key->combine == COMBINE_SET);
    return stays_on_cpu || moves ||
           (kernel_key_is_sound(key) && cuda_computes(key->combine, key->dtype));
}

bool needs_runs(const struct plan *plan)
{
    return plan->kind == PLAN_SCATTER && plan->op->finish != FINISH_NONE && plan->rows.count > 0 &&
           plan->rows.width > 0;
}

bool needs_order(const struct plan *plan)
{
    bool differs = plan->combine != COMBINE_OR && plan->rows.count > 1 && plan->rows.width > 0;
    return plan->kind == PLAN_SCATTER && (differs || needs_runs(plan));
}

bool needs_empty(const struct plan *plan)
{
    return !plan->start && plan->kind != PLAN_GATHER;
}

size_t needs_output_bytes(const struct plan *plan)
{
    return (plan->output_bytes + 3) / 4 * 4;
}

/* Whole words of 32 bits. */
static size_t bits_bytes(int64_t bits)
{
    return ((size_t)bits + 31) / 32 * 4;
}

size_t needs_found_bytes(const struct plan *plan)
{
    return sizeof(struct verdict) + (needs_order(plan) ? bits_bytes(plan->rows.limit) : 0);
}

static size_t bytes_of(const struct tensor *t)
{
    size_t bytes;
    bool counted = tensor_bytes(t, &bytes);
    assert(counted);
    return bytes;
}

cudaError_t needs_of(const struct plan *plan, size_t needs[BUFFER_COUNT])
{
    size_t numbers = (size_t)plan->rows.count * sizeof(uint32_t);
    memset(needs, 0, BUFFER_COUNT * sizeof *needs);
    needs[BUFFER_FOUND] = needs_found_bytes(plan);
    needs[BUFFER_INDICES] = plan->indices ? bytes_of(plan->indices) : 0;
    needs[BUFFER_IDS] = plan->segment_ids ? bytes_of(plan->segment_ids) : 0;
    needs[BUFFER_VALUES] = bytes_of(plan->values);
    needs[BUFFER_OUTPUT] = needs_output_bytes(plan);
    needs[BUFFER_ROWS] = numbers;
    if (plan->kind == PLAN_SEGMENT)
        needs[BUFFER_SOURCES] = numbers;
    if (!needs_order(plan))
        return cudaSuccess;
    needs[BUFFER_SOURCES] = numbers;
    needs[BUFFER_ROWS_SPARE] = numbers;
    needs[BUFFER_SOURCES_SPARE] = numbers;
    return cuda_sort_bytes(plan->rows.count, &needs[BUFFER_SORT]);
}

size_t needs_total(const struct plan *plan)
{
    size_t needs[BUFFER_COUNT], total = 0;
    if (needs_of(plan, needs) != cudaSuccess)
        return SIZE_MAX;
    for (int i = 0; i < BUFFER_COUNT; i++)
        if (__builtin_add_overflow(total, needs[i], &total))
            return SIZE_MAX;
    return total;
}
