#include "tests/support/proto/infer.h"

#include "kernels/backend.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 20 };

void infer_init(struct infer *f)
{
    *f = (struct infer){0};
    test_memory_init(&f->memory);
    f->head = (struct head){.body = ENCODING_JSON,
                            .header_length = -1,
                            .accepted = ENCODING_COUNT,
                            .safetensors_type = "application/vnd.safetensors"};
    f->rules = (struct request_rules){.body_limit = LIMIT,
                                      .json_limit = LIMIT,
                                      .output_limit = LIMIT,
                                      .device = DEVICE_AUTO,
                                      .bad_indices = BAD_INDICES_DEVICE};
}

static void forget(struct infer *f)
{
    test_memory_clear(&f->memory);
    free(f->block);
    f->block = f->body = NULL;
}

void infer_release(struct infer *f)
{
    forget(f);
}

/* The body ends where its memory ends, so that a sanitizer sees a read too far. */
static void place(struct infer *f, const void *body, size_t size)
{
    size_t front = TENSOR_ALIGNMENT - f->lead % TENSOR_ALIGNMENT + f->misaligned + ANSWER_HEAD_ROOM;
    void *block;
    if (posix_memalign(&block, TENSOR_ALIGNMENT, front + size) != 0)
        abort();
    f->block = block;
    f->body = f->block + front;
    memset(f->block, 0x5A, front);
    if (size > 0)
        memcpy(f->body, body, size);
}

enum error_code infer_decode(struct infer *f, const char *op, const void *body, size_t size)
{
    struct op_name name;
    bool found = op_find(op, strlen(op), &name);
    assert(found);
    forget(f);
    place(f, body, size);
    return request_decode(&f->request, &name, &f->head, &f->rules, &f->memory.work, f->body, size,
                          &f->error);
}

static enum error_code no_memory(struct infer *f)
{
    return error_set(&f->error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory to run");
}

static enum error_code find_memory(struct infer *f)
{
    struct plan *plan = &f->plan;
    struct memory *memory = &f->memory.memory;
    int in_place = plan_in_place_input(plan);
    if (in_place >= 0) {
        plan->output.data = plan->inputs[in_place].data;
    } else {
        char *block = memory->get(memory, ANSWER_HEAD_ROOM + plan->output_bytes);
        if (!block)
            return no_memory(f);
        plan->output.data = block + ANSWER_HEAD_ROOM;
    }
    plan->scratch = memory->get(memory, plan->scratch_bytes);
    return plan->scratch ? ERROR_NONE : no_memory(f);
}

enum error_code infer_run(struct infer *f)
{
    struct plan_options options = {.output_limit = f->rules.output_limit,
                                   .ignore_bad = f->request.ignore_bad,
                                   .threads = f->memory.work.threads,
                                   .stop = f->memory.work.stop};
    enum error_code code =
        plan_make(&f->plan, &f->request.op, f->request.inputs, &options, &f->error);
    if (code)
        return code;
    code = response_check(&f->request, &f->plan, &f->rules, &f->error);
    if (!code)
        code = find_memory(f);
    if (code)
        return code;
    struct lane *lane = backend_cpu.open(0, 0, &f->error);
    assert(lane);
    code = backend_cpu.run(lane, &f->plan, &f->error);
    backend_cpu.close(lane);
    return code;
}

enum error_code infer_answer(struct infer *f, const char *op, const void *body, size_t size)
{
    enum error_code code = infer_decode(f, op, body, size);
    if (!code)
        code = infer_run(f);
    if (code)
        return code;
    return response_encode(&f->response, &f->request, &f->plan, &f->memory.work, &f->error);
}
