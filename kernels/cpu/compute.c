#include "kernels/cpu/compute.h"
#include "kernels/check.h"
#include "kernels/cpu/bytes.h"
#include "kernels/cpu/fill.h"
#include "kernels/cpu/move.h"
#include "kernels/fault.h"
#include "kernels/team.h"

#include <assert.h>

struct work {
    const struct plan *plan;
    const struct level *level;
    const struct split *split;
};

static kernel *kernel_of(const struct level *level, enum plan_kind kind, enum combine combine,
                         enum dtype dtype)
{
    const struct kernels *kernels = level->kernels[dtype];
    switch (kind) {
    case PLAN_GATHER:
        return move_gather;
    case PLAN_SCATTER:
        return combine == COMBINE_SET ? move_set : kernels ? kernels->scatter[combine] : NULL;
    case PLAN_SEGMENT:
        return kernels ? kernels->segment[combine] : NULL;
    }
    return NULL;
}

bool compute_has_kernel(const struct level *level, const struct kernel_key *key)
{
    if (key->combine == COMBINE_CONCAT)
        return key->kind == PLAN_SCATTER && key->dtype == DTYPE_BYTES;
    return kernel_key_is_sound(key) && kernel_of(level, key->kind, key->combine, key->dtype);
}

static void start_part(void *work, int i)
{
    const struct work *w = work;
    split_write_start(w->plan, w->split, i);
}

static void apply_part(void *work, int i)
{
    const struct work *w = work;
    const struct plan *plan = w->plan;
    struct share share = split_share(plan, w->split, i);
    if (share.columns == 0)
        return;
    kernel *apply = kernel_of(w->level, plan->kind, plan->combine, plan->dtype);
    assert(apply);
    apply(&share);
}

/* An owner of rows writes their start value itself, when they are about to be used. */
static void start_and_apply_part(void *work, int i)
{
    start_part(work, i);
    apply_part(work, i);
}

static void compute(const struct plan *plan, const struct level *level, const struct split *split)
{
    struct work work = {plan, level, split};
    bool starts = plan->kind == PLAN_SCATTER;
    if (starts && !split->columns) {
        team_run(split->threads, start_and_apply_part, &work);
        return;
    }
    if (starts)
        team_run(split->threads, start_part, &work);
    team_run(split->threads, apply_part, &work);
}

enum error_code compute_run(struct plan *plan, const struct level *level, const struct split *split,
                            struct error *error)
{
    if (check_run(plan, error) != ERROR_NONE || bytes_check(plan, error) != ERROR_NONE)
        return error->code;
    if (plan->combine == COMBINE_CONCAT)
        bytes_concat(plan);
    else if (plan->rows.width > 0 && plan->output_bytes > 0) {
        struct split chosen = split ? *split : split_choose(plan);
        compute(plan, level, &chosen);
    }
    if (plan->dtype == DTYPE_BYTES && plan->ignored > 0)
        bytes_fill_empty(plan);
    return plan_stopped(plan) ? fault_cancelled(error) : ERROR_NONE;
}
