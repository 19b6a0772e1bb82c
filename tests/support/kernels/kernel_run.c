#include "tests/support/kernels/kernel_run.h"
#include "kernels/cpu/compute.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, GUARD_BYTE = 0xA5 };

/* A block: its size, then guard, bytes, guard. The bytes are filled with a pattern, for what the
 * kernels forget to write. */
static void *guarded_new(size_t bytes)
{
    char *block = aligned_alloc(TENSOR_ALIGNMENT, (bytes + 3 * GUARD + 63) / 64 * 64);
    assert(block);
    memcpy(block, &bytes, sizeof bytes);
    memset(block + GUARD, GUARD_BYTE, bytes + 2 * GUARD);
    return block + 2 * GUARD;
}

static bool guarded_holds(const void *data)
{
    const unsigned char *p = data;
    size_t bytes;
    memcpy(&bytes, p - 2 * GUARD, sizeof bytes);
    for (size_t i = 1; i <= GUARD; i++)
        if (p[-(ptrdiff_t)i] != GUARD_BYTE || p[bytes + i - 1] != GUARD_BYTE)
            return false;
    return true;
}

static void guarded_free(void *data)
{
    if (data)
        free((char *)data - 2 * GUARD);
}

static struct tensor copy(struct tensor t, void **block)
{
    size_t bytes;
    if (!t.data || !tensor_bytes(&t, &bytes))
        return t;
    *block = guarded_new(bytes);
    memcpy(*block, t.data, bytes);
    t.data = *block;
    return t;
}

static enum error_code run_on(struct kernel_run *r, const struct backend *backend)
{
    bool lent = r->lane && backend == r->backend;
    struct lane *lane = lent ? r->lane : backend->open(0, SIZE_MAX, &r->error);
    if (!lane)
        return r->error.code;
    r->ran_on = backend;
    enum error_code code = backend->run(lane, &r->plan, &r->error);
    r->is_broken = backend->is_broken(lane);
    if (!lent)
        backend->close(lane);
    return code;
}

static enum error_code run(struct kernel_run *r)
{
    struct plan *plan = &r->plan;
    struct op_name name;
    struct tensor inputs[OP_INPUTS_MAX];
    struct plan_options options = {.output_limit = r->limit ? r->limit : (size_t)1 << 30,
                                   .ignore_bad = r->ignore_bad,
                                   .threads = r->threads ? r->threads : 1,
                                   .machine = r->machine,
                                   .stop = r->stop};
    bool known = op_find(r->op, strlen(r->op), &name) || r->row;
    assert(known);
    if (r->row)
        name = (struct op_name){r->op, r->row, r->row->required};
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        inputs[i] = copy(r->inputs[i], &r->blocks[i]);
    if (plan_make(plan, &name, inputs, &options, &r->error) != ERROR_NONE)
        return r->error.code;

    if (r->flat && plan->rows.depth > 1 && plan->flat_bytes == 0) {
        plan->flat_bytes = ((size_t)plan->rows.count * 8 + 63) / 64 * 64;
        plan->scratch_bytes += plan->flat_bytes;
    }

    int taken = plan_in_place_input(plan);
    if (r->in_place && taken >= 0)
        plan->output.data = plan->inputs[taken].data;
    else
        plan->output.data = r->blocks[OP_INPUTS_MAX] = guarded_new(plan->output_bytes);
    plan->scratch = r->blocks[OP_INPUTS_MAX + 1] = guarded_new(plan->scratch_bytes);

    if (r->level)
        return compute_run(plan, r->level, r->split.threads ? &r->split : NULL, &r->error);
    return run_on(r, r->backend && r->backend->can_run(plan) ? r->backend : &backend_cpu);
}

enum error_code kernel_run_do(struct kernel_run *r)
{
    error_clear(&r->error);
    r->ran_on = NULL;
    enum error_code code = run(r);
    r->guards_hold = true;
    for (int i = 0; i < OP_INPUTS_MAX + 2; i++)
        if (r->blocks[i])
            r->guards_hold &= guarded_holds(r->blocks[i]);
    return code;
}

void kernel_run_release(struct kernel_run *r)
{
    for (int i = 0; i < OP_INPUTS_MAX + 2; i++) {
        guarded_free(r->blocks[i]);
        r->blocks[i] = NULL;
    }
}
