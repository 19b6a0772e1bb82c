#include "kernels/backend.h"
#include "kernels/check.h"
#include "kernels/cpu/bytes.h"
#include "kernels/cpu/level.h"
#include "kernels/fault.h"
#include "kernels/flatten.h"

#include <omp.h>
#include <string.h>

/* Element rows that a kernel takes between two looks at the stop flag. */
static int64_t block_rows(const struct plan *plan)
{
    int64_t rows = PLAN_STOP_ELEMENTS / (plan->rows.width > 0 ? plan->rows.width : 1);
    return rows > 0 ? rows : 1;
}

/* Owner's part of the output: the start value, unless it is there already. */
static void write_start(const struct plan *plan, size_t from, size_t to)
{
    char *out = plan->output.data;
    if (!plan->start)
        memset(out + from, 0, to - from);
    else if (plan->start->data != out)
        memcpy(out + from, (const char *)plan->start->data + from, to - from);
}

static void apply(const struct plan *plan, const struct level *level, const struct share *share)
{
    int64_t step = block_rows(plan), count = plan->rows.count;
    size_t element = dtype_bytes(plan->dtype);
    for (int64_t k = 0; k < count && !plan_stopped(plan); k += step) {
        int64_t end = count - k < step ? count : k + step;
        if (plan->combine == COMBINE_SET)
            level->set(element, share, k, end);
        else
            level->scatter[plan->dtype](plan->combine, share, k, end);
    }
}

static void scatter_part(const struct plan *plan, const struct level *level, int64_t me,
                         int64_t team)
{
    const struct rows *rows = &plan->rows;
    size_t row_bytes = (size_t)rows->width * dtype_bytes(plan->dtype);
    struct share share = {.rows = rows,
                          .out = plan->output.data,
                          .updates = plan->values->data,
                          .low = rows->limit * me / team,
                          .high = rows->limit * (me + 1) / team,
                          .columns = rows->width};
    write_start(plan, (size_t)share.low * row_bytes, (size_t)share.high * row_bytes);
    apply(plan, level, &share);
}

static void gather_part(const struct plan *plan, const struct level *level, int64_t me,
                        int64_t team)
{
    const struct rows *rows = &plan->rows;
    size_t row_bytes = (size_t)rows->width * dtype_bytes(plan->dtype);
    int64_t step = block_rows(plan);
    int64_t from = rows->count * me / team, to = rows->count * (me + 1) / team;
    for (int64_t k = from; k < to && !plan_stopped(plan); k += step)
        level->gather(row_bytes, rows, plan->values->data, plan->output.data, k,
                      to - k < step ? to : k + step);
}

/* The first pair whose id is not below `id`. */
static int64_t first_pair(const struct segments *s, int64_t id)
{
    int64_t low = 0, high = s->rows->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (index_load(s->ids, s->id_bits, middle) < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void segment_part(const struct plan *plan, const struct level *level, int64_t me,
                         int64_t team)
{
    struct segments s = {.rows = &plan->rows,
                         .data = plan->values->data,
                         .ids = plan->segment_ids->data,
                         .id_bits = plan->segment_ids->dtype == DTYPE_INT32 ? 32 : 64,
                         .out = plan->output.data,
                         .finish = plan->op->finish};
    int64_t segments = plan->output.shape[0], step = block_rows(plan);
    int64_t low = segments * me / team, high = segments * (me + 1) / team;
    int64_t pair = first_pair(&s, low);
    for (int64_t id = low; id < high && !plan_stopped(plan); id += step)
        pair = level->segment[plan->dtype](&s, id, high - id < step ? high : id + step, pair);
}

/* Thread `me` of a team of `team` computes its part of the output. */
typedef void part_fn(const struct plan *plan, const struct level *level, int64_t me, int64_t team);

/* A team of one is a plain call: entering and leaving a parallel region costs system calls. */
static void run_parts(part_fn *part, const struct plan *plan, const struct level *level)
{
    if (plan->rows.width == 0)
        return;
    if (plan->options.threads == 1) {
        part(plan, level, 0, 1);
        return;
    }
#pragma omp parallel num_threads(plan->options.threads)
    part(plan, level, omp_get_thread_num(), omp_get_num_threads());
}

static void compute(const struct plan *plan, const struct level *level)
{
    if (plan->combine == COMBINE_CONCAT)
        bytes_concat(plan);
    else if (plan->segment_ids)
        run_parts(segment_part, plan, level);
    else if (plan->op->combine == COMBINE_SET && !plan->start)
        run_parts(gather_part, plan, level);
    else
        run_parts(scatter_part, plan, level);
    if (plan->dtype == DTYPE_BYTES && plan->ignored > 0)
        bytes_fill_empty(plan);
}

static enum error_code cpu_run(struct lane *lane, struct plan *plan, struct error *error)
{
    if (check_run(plan, error) != ERROR_NONE || bytes_check(plan, error) != ERROR_NONE)
        return error->code;
    compute(plan, (const struct level *)lane);
    return plan_stopped(plan) ? fault_cancelled(error) : ERROR_NONE;
}

/* A CPU lane has no state, the cores are in plan.options.threads: it is the level. */
static struct lane *cpu_open(int device, size_t memory_bytes, struct error *error)
{
    (void)device;
    (void)memory_bytes;
    (void)error;
    return (struct lane *)level_best();
}

static int cpu_devices(void)
{
    return 1;
}

static size_t cpu_available(int device)
{
    (void)device;
    return 0;
}

static bool cpu_pin(void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
    return false;
}

static void cpu_unpin(void *data)
{
    (void)data;
}

static bool cpu_can_run(const struct plan *plan)
{
    (void)plan;
    return true;
}

static size_t cpu_memory(const struct plan *plan)
{
    (void)plan;
    return 0;
}

static bool cpu_is_broken(const struct lane *lane)
{
    (void)lane;
    return false;
}

static void cpu_close(struct lane *lane)
{
    (void)lane;
}

const struct backend backend_cpu = {.name = "cpu",
                                    .devices = cpu_devices,
                                    .available = cpu_available,
                                    .pin = cpu_pin,
                                    .unpin = cpu_unpin,
                                    .open = cpu_open,
                                    .can_run = cpu_can_run,
                                    .memory = cpu_memory,
                                    .run = cpu_run,
                                    .is_broken = cpu_is_broken,
                                    .close = cpu_close};
