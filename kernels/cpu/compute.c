#include "kernels/cpu/compute.h"
#include "kernels/check.h"
#include "kernels/cpu/bytes.h"
#include "kernels/cpu/fill.h"
#include "kernels/cpu/move.h"
#include "kernels/fault.h"
#include "kernels/team.h"

struct work {
    const struct plan *plan;
    const struct level *level;
    const struct split *split;
};

/* What wraps has the same bits signed and unsigned, and is compiled once. */
static enum dtype kernel_dtype(const struct plan *plan)
{
    bool wraps = plan->combine == COMBINE_ADD || plan->combine == COMBINE_SUB ||
                 plan->combine == COMBINE_MUL;
    bool is_signed = plan->dtype >= DTYPE_INT8 && plan->dtype <= DTYPE_INT64;
    return wraps && is_signed ? plan->dtype - DTYPE_INT8 + DTYPE_UINT8 : plan->dtype;
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
    if (plan->segment_ids)
        w->level->segment[kernel_dtype(plan)](&share);
    else if (plan_gathers(plan))
        move_gather(&share);
    else if (plan->combine == COMBINE_SET)
        move_set(&share);
    else
        w->level->scatter[kernel_dtype(plan)](&share);
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
    bool starts = !plan->segment_ids && !plan_gathers(plan);
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
