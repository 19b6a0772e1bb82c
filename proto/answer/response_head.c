#include "proto/answer/response_head.h"

#include "proto/answer/safetensors_write.h"

#include <assert.h>
#include <string.h>

/* Members of an object: what the request's references meant, and what was left out. */
struct notes {
    struct text *text;
    bool as_strings; /* a safetensors file knows no numbers */
    const char *separator;
};

static void put_key(struct notes *n, const char *of, const char *what)
{
    text_puts(n->text, n->separator);
    text_puts(n->text, "\"");
    text_puts(n->text, of);
    text_puts(n->text, what);
    text_puts(n->text, "\":");
    n->separator = ",";
}

static void note_number(struct notes *n, const char *what, const char *of, int64_t number)
{
    const char *quote = n->as_strings ? "\"" : "";
    put_key(n, of, what);
    text_puts(n->text, quote);
    text_int(n->text, number);
    text_puts(n->text, quote);
}

static void note_reference(struct notes *n, const char *of, const struct reference *reference)
{
    if (reference->version == 0)
        return;
    note_number(n, "_version", of, (int64_t)reference->version);
    put_key(n, of, "_etag");
    text_json(n->text, reference->etag, strlen(reference->etag));
}

static void put_notes(struct notes *n, const struct request *request, const struct plan *plan)
{
    const struct op *op = request->op.op;
    for (int i = 0; i < op_inputs(op); i++)
        note_reference(n, i == request_table(op) ? "tensor" : op->inputs[i],
                       &request->references[i]);
    note_reference(n, "into", &request->into);
    if (plan->ignored > 0)
        note_number(n, "ignored_indices", "", plan->ignored);
}

/* {"model_name":...,"parameters":{...} */
static void put_beginning(struct text *t, const struct request *request, const struct plan *plan)
{
    char notes[ANSWER_HEAD_ROOM / 2];
    struct text members;
    text_init(&members, notes, sizeof(notes));
    put_notes(&(struct notes){&members, false, ""}, request, plan);
    assert(!members.cut);
    text_puts(t, "{\"model_name\":\"");
    text_puts(t, request->op.name);
    text_puts(t, "\",\"model_version\":\"1\"");
    if (request->id[0] != '\0') {
        text_puts(t, ",\"id\":");
        text_json(t, request->id, strlen(request->id));
    }
    if (members.size > 0) {
        text_puts(t, ",\"parameters\":{");
        text_put(t, notes, members.size);
        text_puts(t, "}");
    }
}

/* {"name":"output",...,"shape":[4] */
static void put_output(struct text *t, const struct plan *plan)
{
    text_puts(t, "{\"name\":\"output\",\"datatype\":\"");
    text_puts(t, dtype_name(plan->output.dtype));
    text_puts(t, "\",\"shape\":");
    text_shape(t, &plan->output);
}

/* {"model_name":...,"outputs":[{...,"shape":[4] */
static void put_outputs(struct text *t, const struct request *request, const struct plan *plan)
{
    put_beginning(t, request, plan);
    text_puts(t, ",\"outputs\":[");
    put_output(t, plan);
}

void response_head_json(struct text *t, const struct request *request, const struct plan *plan)
{
    put_outputs(t, request, plan);
    text_puts(t, ",\"data\":");
    assert(!t->cut);
}

void response_head_binary(struct text *t, const struct request *request, const struct plan *plan,
                          size_t bytes)
{
    put_outputs(t, request, plan);
    text_puts(t, ",\"parameters\":{\"binary_data_size\":");
    text_int(t, (int64_t)bytes);
    text_puts(t, "}}]}");
    text_pad(t, 0, TENSOR_ALIGNMENT);
    assert(!t->cut);
}

void response_head_safetensors(struct text *t, const struct request *request,
                               const struct plan *plan, size_t bytes)
{
    char metadata[ANSWER_HEAD_ROOM - 1024];
    struct text members;
    struct notes notes = {&members, true, ""};
    text_init(&members, metadata, sizeof(metadata));
    if (request->id[0] != '\0') {
        text_puts(&members, "\"id\":");
        text_json(&members, request->id, strlen(request->id));
        notes.separator = ",";
    }
    put_notes(&notes, request, plan);
    assert(!members.cut);
    safetensors_write_head(t, "output", &plan->output, bytes, metadata);
}

/* An output that was asked for as a region is described without parameters: Triton's C++ client
 * takes any for those of an output that was sent. */
void response_head_into(struct text *t, const struct request *request, const struct plan *plan)
{
    put_beginning(t, request, plan);
    text_puts(t, ",\"outputs\":[");
    if (request->output_named) {
        put_output(t, plan);
        text_puts(t, "}");
    }
    text_puts(t, "]}\n");
    assert(!t->cut);
}
