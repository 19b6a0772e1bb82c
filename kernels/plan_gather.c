#include "kernels/plan_parts.h"

enum error_code plan_gather_nd(struct plan *plan, struct error *error)
{
    const struct tensor *params = &plan->inputs[0], *indices = &plan->inputs[1];
    struct tensor *output = &plan->output;
    if (indices->rank < 1)
        return error_set(error, ERROR_SHAPE_MISMATCH, "indices",
                         "indices has shape []; it needs rank 1 or more");
    int outer = indices->rank - 1;
    int64_t depth = indices->shape[outer];
    if (plan_check_depth(indices, 0, params->rank, "params", error) != ERROR_NONE ||
        plan_check_rank(outer + params->rank - (int)depth, "output", error) != ERROR_NONE)
        return error->code;

    output->dtype = params->dtype;
    for (int i = 0; i < outer; i++)
        output->shape[output->rank++] = indices->shape[i];
    for (int i = (int)depth; i < params->rank; i++)
        output->shape[output->rank++] = params->shape[i];
    plan->kind = PLAN_GATHER;
    plan->values = params;
    plan_address_rows(plan, 1, params, "params");
    return ERROR_NONE;
}
