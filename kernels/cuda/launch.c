/* From a plan to the jobs of device.h. */
#include "kernels/check.h"
#include "kernels/cuda/needs.h"
#include "kernels/cuda/run.h"

#include <string.h>

static void *buffer(const struct run *run, enum buffer which)
{
    return run->lane->buffers[which];
}

/* ------------------------------------------------------------------------------------- checking */

static cudaError_t check_pairs(const struct run *run)
{
    const struct plan *plan = run->plan;
    struct check_pairs job = {.verdict = buffer(run, BUFFER_FOUND),
                              .indices = plan->indices ? buffer(run, BUFFER_INDICES) : NULL,
                              .ids = buffer(run, BUFFER_IDS),
                              .index_bits = plan->indices ? tensor_index_bits(plan->indices) : 0,
                              .id_bits = tensor_index_bits(plan->segment_ids),
                              .count = plan->rows.count,
                              .segments = plan->output.shape[0],
                              .limit = (uint32_t)plan->rows.limit,
                              .key = buffer(run, BUFFER_ROWS),
                              .source = buffer(run, BUFFER_SOURCES)};
    return cuda_check_pairs(&job, run->lane->stream);
}

static cudaError_t check_rows(const struct run *run)
{
    const struct plan *plan = run->plan;
    const struct rows *rows = &plan->rows;
    bool are_ids = !plan->indices;
    struct verdict *verdict = buffer(run, BUFFER_FOUND);
    bool divides = check_divides(plan);
    struct check_rows job = {.verdict = verdict,
                             .indices = buffer(run, are_ids ? BUFFER_IDS : BUFFER_INDICES),
                             .are_ids = are_ids,
                             .index_bits =
                                 tensor_index_bits(are_ids ? plan->segment_ids : plan->indices),
                             .depth = rows->depth,
                             .count = rows->count,
                             .limit = (uint32_t)rows->limit,
                             .row = buffer(run, BUFFER_ROWS),
                             .seen = needs_order(plan) ? (uint32_t *)(verdict + 1) : NULL,
                             .divisors = divides ? buffer(run, BUFFER_VALUES) : NULL,
                             .divisor_bytes = (int)dtype_bytes(plan->dtype),
                             .width = rows->width};
    for (int i = 0; i < rows->depth; i++)
        job.bound[i] = rows->bound[i];
    return cuda_check_rows(&job, run->lane->stream);
}

cudaError_t run_launch_check(const struct run *run)
{
    cudaError_t status = cudaMemsetAsync(buffer(run, BUFFER_FOUND), 0, needs_found_bytes(run->plan),
                                         run->lane->stream);
    if (status != cudaSuccess)
        return status;
    return run->plan->kind == PLAN_SEGMENT ? check_pairs(run) : check_rows(run);
}

/* ------------------------------------------------------------------------------------- applying */

static struct move move_job(const struct run *run)
{
    return (struct move){.out = buffer(run, BUFFER_OUTPUT),
                         .in = buffer(run, BUFFER_VALUES),
                         .row = buffer(run, BUFFER_ROWS),
                         .position = buffer(run, BUFFER_SOURCES),
                         .count = run->plan->rows.count,
                         .limit = (uint32_t)run->plan->rows.limit,
                         .row_bytes = run->row_bytes};
}

static cudaError_t apply_once(const struct run *run)
{
    const struct plan *plan = run->plan;
    cudaStream_t stream = run->lane->stream;
    struct move move = move_job(run);
    if (plan->combine == COMBINE_SET || plan->from_first)
        return cuda_put(&move, stream);
    if (plan->combine == COMBINE_OR)
        return cuda_or(&move, stream);
    struct scatter job = {.out = move.out,
                          .updates = move.in,
                          .row = move.row,
                          .count = move.count,
                          .width = plan->rows.width,
                          .limit = move.limit};
    return cuda_scatter(plan->combine, plan->dtype, &job, stream);
}

static cudaError_t sort_rows(const struct run *run, struct sort *job)
{
    *job = (struct sort){.key = buffer(run, BUFFER_ROWS),
                         .key_spare = buffer(run, BUFFER_ROWS_SPARE),
                         .position = buffer(run, BUFFER_SOURCES),
                         .position_spare = buffer(run, BUFFER_SOURCES_SPARE),
                         .temporary = buffer(run, BUFFER_SORT),
                         .temporary_bytes = run->lane->capacity[BUFFER_SORT],
                         .count = run->plan->rows.count,
                         .limit = (uint32_t)run->plan->rows.limit};
    return cuda_sort(job, run->lane->stream);
}

static struct runs runs_job(const struct run *run)
{
    const struct plan *plan = run->plan;
    return (struct runs){.out = buffer(run, BUFFER_OUTPUT),
                         .values = buffer(run, BUFFER_VALUES),
                         .key = buffer(run, BUFFER_ROWS),
                         .source = buffer(run, BUFFER_SOURCES),
                         .count = plan->rows.count,
                         .width = plan->rows.width};
}

static cudaError_t apply_sorted(const struct run *run)
{
    const struct plan *plan = run->plan;
    struct sort sorted;
    cudaError_t status = sort_rows(run, &sorted);
    if (status != cudaSuccess)
        return status;
    if (plan->combine == COMBINE_SET) {
        struct move move = move_job(run);
        move.row = sorted.key;
        move.position = sorted.position;
        return cuda_put_last(&move, run->lane->stream);
    }
    struct runs job = runs_job(run);
    job.key = sorted.key;
    job.source = sorted.position;
    job.keys = (uint32_t)plan->rows.limit;
    job.sources = (uint32_t)plan->rows.count;
    job.finish = plan->op->finish;
    return plan->from_first || needs_runs(plan)
               ? cuda_segments(plan->combine, plan->dtype, &job, run->lane->stream)
               : cuda_scatter_runs(plan->combine, plan->dtype, &job, run->lane->stream);
}

static cudaError_t apply_segments(const struct run *run)
{
    struct runs job = runs_job(run);
    job.keys = (uint32_t)run->plan->output.shape[0];
    job.sources = (uint32_t)run->plan->rows.limit;
    job.finish = run->plan->op->finish;
    return cuda_segments(run->plan->combine, run->plan->dtype, &job, run->lane->stream);
}

cudaError_t run_launch_empty(const struct run *run)
{
    const struct plan *plan = run->plan;
    struct fill job = {.out = buffer(run, BUFFER_OUTPUT),
                       .element_bytes = (int)dtype_bytes(plan->dtype)};
    memcpy(&job.element, plan->empty, sizeof job.element);
    if (job.element == 0)
        return cudaMemsetAsync(job.out, 0, needs_output_bytes(plan), run->lane->stream);
    job.count = (int64_t)(plan->output_bytes / dtype_bytes(plan->dtype));
    return cuda_fill(&job, run->lane->stream);
}

cudaError_t run_launch_apply(const struct run *run)
{
    struct move move = move_job(run);
    switch (run->plan->kind) {
    case PLAN_GATHER:
        return cuda_gather(&move, run->lane->stream);
    case PLAN_SEGMENT:
        return apply_segments(run);
    case PLAN_SCATTER:
        break;
    }
    bool sorts = run->lane->verdict->duplicates || needs_runs(run->plan);
    return sorts ? apply_sorted(run) : apply_once(run);
}
