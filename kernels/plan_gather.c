#include "kernels/plan_parts.h"

enum { PARAMS, INDICES };

/* The rows that the first `outer` dimensions of the indices number, each of the dimensions of
 * params from `inner` on. */
static enum error_code plan_rows(struct plan *plan, int outer, int inner, struct error *error)
{
    const struct tensor *params = &plan->inputs[PARAMS], *indices = &plan->inputs[INDICES];
    struct tensor *output = &plan->output;
    if (plan_check_rank(outer + params->rank - inner, "output", error) != ERROR_NONE)
        return error->code;
    output->dtype = params->dtype;
    for (int i = 0; i < outer; i++)
        output->shape[output->rank++] = indices->shape[i];
    for (int i = inner; i < params->rank; i++)
        output->shape[output->rank++] = params->shape[i];
    plan->kind = PLAN_GATHER;
    plan->values = params;
    plan_address_rows(plan, INDICES, outer < indices->rank, params, "params");
    return ERROR_NONE;
}

enum error_code plan_gather_nd(struct plan *plan, struct error *error)
{
    const struct tensor *params = &plan->inputs[PARAMS], *indices = &plan->inputs[INDICES];
    if (indices->rank < 1)
        return error_set(error, ERROR_SHAPE_MISMATCH, "indices",
                         "indices has shape []; it needs rank 1 or more");
    if (plan_check_depth(indices, 0, params->rank, "params", error) != ERROR_NONE)
        return error->code;
    int outer = indices->rank - 1;
    return plan_rows(plan, outer, (int)indices->shape[outer], error);
}

enum error_code plan_gather(struct plan *plan, struct error *error)
{
    if (plan->inputs[PARAMS].rank < 1)
        return error_set(error, ERROR_SHAPE_MISMATCH, "params",
                         "params has shape []; it needs rank 1 or more");
    return plan_rows(plan, plan->inputs[INDICES].rank, 1, error);
}
