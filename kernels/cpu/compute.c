#include "kernels/cpu/compute.h"
#include "kernels/check.h"
#include "kernels/cpu/bytes.h"
#include "kernels/cpu/fill.h"
#include "kernels/cpu/move.h"
#include "kernels/cpu/tally.h"
#include "kernels/fault.h"
#include "kernels/team.h"

#include <assert.h>

struct work {
    const struct plan *plan;
    const struct level *level;
    const struct split *split;
    bool firsts;        /* rows start from a copy of their first update, else from EMPTY */
    atomic_bool strays; /* some update showed that EMPTY is no start for it */
};

static kernel *scatter_kernel(const struct kernels *kernels, const struct kernel_key *key)
{
    if (key->combine == COMBINE_SET)
        return move_set;
    if (kernels && kernels->sum && key->finish != FINISH_NONE)
        return kernels->sum;
    return kernels ? kernels->scatter[key->combine] : NULL;
}

static kernel *kernel_of(const struct level *level, const struct kernel_key *key)
{
    const struct kernels *kernels = level->kernels[key->dtype];
    switch (key->kind) {
    case PLAN_GATHER:
        return move_gather;
    case PLAN_SCATTER:
        return scatter_kernel(kernels, key);
    case PLAN_SEGMENT:
        return kernels ? kernels->segment[key->combine] : NULL;
    }
    return NULL;
}

bool compute_has_kernel(const struct level *level, const struct kernel_key *key)
{
    if (key->combine == COMBINE_CONCAT)
        return key->kind == PLAN_SCATTER && key->dtype == DTYPE_BYTES;
    return kernel_key_is_sound(key) && kernel_of(level, key);
}

static void start_part(void *work, int i)
{
    const struct work *w = work;
    struct share rows = split_rows(w->plan, w->split, i);
    size_t bytes = (size_t)w->plan->rows.width * dtype_bytes(w->plan->dtype);
    fill_start(w->plan, (size_t)rows.low * bytes, (size_t)rows.high * bytes, w->split->streams);
    tally_start(&rows);
    if (w->firsts)
        tally_first(&rows);
}

static void apply_part(void *work, int i)
{
    struct work *w = work;
    const struct plan *plan = w->plan;
    struct share share = split_share(plan, w->split, i);
    if (share.columns == 0)
        return;
    share.strays = plan->from_first && !w->firsts ? &w->strays : NULL;
    struct kernel_key key = plan_kernel_key(plan, plan->output.dtype);
    kernel *apply = kernel_of(w->level, &key);
    assert(apply);
    apply(&share);
}

static void finish_part(void *work, int i)
{
    const struct work *w = work;
    struct share rows = split_rows(w->plan, w->split, i);
    if (w->plan->op->finish != FINISH_NONE)
        w->level->kernels[w->plan->dtype]->finish(&rows);
}

/* An owner of rows starts and ends them itself, while they are in its caches. */
static void scatter_part(void *work, int i)
{
    start_part(work, i);
    apply_part(work, i);
    finish_part(work, i);
}

static void scatter(struct work *work)
{
    int threads = work->split->threads;
    if (!work->split->columns) {
        team_run(threads, scatter_part, work);
        return;
    }
    team_run(threads, start_part, work);
    team_run(threads, apply_part, work);
    if (work->plan->op->finish != FINISH_NONE)
        team_run(threads, finish_part, work);
}

/* To look for each row's first update takes longer than all the rest where rows are single
 * elements. So rows start from EMPTY, which gives the same bits unless an update is a stray: a NaN,
 * or an infinity on EMPTY's side. Then everything is done again from first updates. */
static void compute(const struct plan *plan, const struct level *level, const struct split *split)
{
    struct work work = {.plan = plan, .level = level, .split = split};
    if (plan->kind != PLAN_SCATTER) {
        team_run(split->threads, apply_part, &work);
        return;
    }
    scatter(&work);
    work.firsts = work.strays;
    if (work.firsts)
        scatter(&work);
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
