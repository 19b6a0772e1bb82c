#include "proto/json/fault.h"
#include "proto/json/find.h"
#include "proto/json/reader.h"
#include "proto/json/slices.h"
#include "proto/json/tensor.h"
#include "proto/number/decimal.h"

#include <assert.h>
#include <string.h>

enum {
    LOOK_ELEMENTS = 64 * 1024,   /* between two looks at the stop flag */
    PARALLEL_BYTES = 1024 * 1024 /* of text, from which on several threads read a list */
};

/* All functions here that return a place in the text return where they stopped, or NULL when the
 * error is said. */

static const char *refused(enum error_code code)
{
    assert(code != ERROR_NONE);
    return NULL;
}

/* -------------------------------------------------------------------------------------- nesting */

static const char *open_list(struct json_reader *r, const char *at)
{
    if (r->depth == r->leaf)
        return refused(json_reader_list(r, at));
    if (r->depth == RANK_MAX)
        return refused(json_reader_rank(r, at));
    r->seen[r->depth++] = 0;
    return decimal_space(at + 1, r->end);
}

static const char *close_list(struct json_reader *r, const char *at)
{
    int64_t *size = &r->sizes[r->depth - 1];
    int64_t seen = r->seen[r->depth - 1];

    if (*size < 0)
        *size = seen;
    if (*size != seen)
        return refused(json_reader_size(r, at));
    if (r->leaf < 0)
        r->leaf = r->depth;
    r->depth--;
    if (r->depth > 0)
        r->seen[r->depth - 1]++;
    return decimal_space(at + 1, r->end);
}

/* An element, where only lists may stand. */
static const char *misplaced(struct json_reader *r, const char *at)
{
    struct span any;
    struct number_run run = json_elements_read(&r->elements, at, r->end, &any, 1);
    bool read = run.stop == NUMBER_END || run.stop == NUMBER_MORE;

    return refused(read ? json_reader_no_list(r, at) : json_reader_element(r, run));
}

static bool stopped(struct json_reader *r)
{
    if (r->count < r->look)
        return false;
    r->look = r->count + LOOK_ELEMENTS;
    return work_stopped(r->work);
}

/* Elements, up to the end of their list. There is room for one and one more for each comma. */
static const char *read_elements(struct json_reader *r, const char *at)
{
    size_t bytes = dtype_bytes(r->tensor->dtype);
    struct number_run run = {at, 0, NUMBER_MORE};

    if (r->leaf < 0)
        r->leaf = r->depth;
    if (r->depth != r->leaf)
        return misplaced(r, at);
    while (run.stop == NUMBER_MORE) {
        assert(r->count < r->room);
        if (stopped(r))
            return refused(json_fault_stopped(r->input, r->error));
        char *out = r->data + (size_t)r->count * bytes;
        run = json_elements_read(&r->elements, run.at, r->end, out, LOOK_ELEMENTS);
        r->count += run.count;
        if (r->depth > 0)
            r->seen[r->depth - 1] += run.count;
    }
    return run.stop == NUMBER_END ? run.at : refused(json_reader_element(r, run));
}

/* Past the brackets that close here, and past the comma after them. */
static const char *close_lists(struct json_reader *r, const char *at)
{
    while (*at == ']') {
        at = close_list(r, at);
        if (!at || r->depth == 0)
            return at;
    }
    if (*at != ',')
        return refused(json_reader_expected(r, at, "',' or ']'"));
    return decimal_space(at + 1, r->end);
}

/* A list and all that are in it. Its last byte is the bracket that closes it: json_scan said so. */
static const char *read_lists(struct json_reader *r, const char *at)
{
    do {
        bool opens = *at == '[';
        at = opens ? open_list(r, at) : read_elements(r, at);
        if (at && (!opens || *at == ']'))
            at = close_lists(r, at);
    } while (at && r->depth > 0);
    return at;
}

/* --------------------------------------------------------------------------------------- memory */

/* Elements that the value can have at the most: commas and one. */
static int64_t count_elements(const struct json_reader *r, const char *at)
{
    struct json_string string;
    struct json_fault fault;
    int64_t commas = 0;

    if (r->tensor->dtype != DTYPE_BYTES)
        return json_count_commas(at, r->end) + 1;
    for (const char *quote; (quote = memchr(at, '"', (size_t)(r->end - at))); at = string.end + 1) {
        commas += json_count_commas(at, quote);
        bool checked = json_string_check(&string, quote, r->end, &fault);
        assert(checked);
    }
    return commas + json_count_commas(at, r->end) + 1;
}

static void *get(struct json_reader *r, size_t bytes)
{
    void *memory = r->work->memory->get(r->work->memory, bytes);

    if (!memory)
        json_fault_memory(bytes, r->input, r->input, r->error);
    return memory;
}

/* Finds memory for the elements, and for strings that do not stand in the text as they are. */
static enum error_code allocate(struct json_reader *r, const char *at)
{
    size_t text = (size_t)(r->end - at), bytes = dtype_bytes(r->tensor->dtype);

    assert((uint64_t)r->room <= (SIZE_MAX - ANSWER_HEAD_ROOM) / bytes);
    char *memory = get(r, ANSWER_HEAD_ROOM + (size_t)r->room * bytes);
    if (!memory)
        return r->error->code;
    r->data = memory + ANSWER_HEAD_ROOM;
    if (r->tensor->dtype == DTYPE_BYTES && memchr(at, '\\', text)) {
        r->elements.decoded = get(r, text);
        if (!r->elements.decoded)
            return r->error->code;
    }
    return ERROR_NONE;
}

/* ------------------------------------------------------------------------------------ the whole */

/* What the shape says of the nesting. One list stands for any shape. */
static enum error_code expect_shape(struct json_reader *r, const char *at)
{
    const struct tensor *t = r->tensor;

    r->leaf = t->rank;
    for (int i = 0; i < RANK_MAX; i++)
        r->sizes[i] = i < t->rank ? t->shape[i] : -1;
    r->flat = t->rank >= 0 && *at == '[' && *decimal_space(at + 1, r->end) != '[';
    if (!r->flat)
        return ERROR_NONE;
    r->leaf = 1;
    return tensor_count(t, &r->sizes[0]) ? ERROR_NONE : json_reader_overflow(r);
}

static enum error_code read_in_parallel(struct json_reader *r, const char *at)
{
    struct json_slices slices;

    r->room = json_slices_cut(&slices, at + 1, r->end - 1);
    enum error_code code = allocate(r, at);
    if (code)
        return code;
    if (r->room == r->sizes[0] && json_slices_read(&slices, &r->elements, r->data, r->work))
        return ERROR_NONE;
    return read_lists(r, at) ? ERROR_NONE : r->error->code;
}

static enum error_code read_serially(struct json_reader *r, const char *at)
{
    r->room = count_elements(r, at);
    enum error_code code = allocate(r, at);
    if (code)
        return code;
    const char *end = *at == '[' ? read_lists(r, at) : read_elements(r, at);
    return !end            ? r->error->code
           : end == r->end ? ERROR_NONE
                           : json_reader_expected(r, end, "the end of the value");
}

enum error_code json_tensor_read(struct tensor *t, const char *input,
                                 const struct json_value *value, const struct work *work,
                                 bool *bare_tokens, struct error *error)
{
    const struct json_scan *scan = value->scan;
    assert(value->cut >= 0 && value->cut < scan->cut_count);
    const char *at = scan->text + scan->cuts[value->cut].offset;
    size_t size = scan->cuts[value->cut].size;
    assert(!value->untyped || t->dtype == DTYPE_FP32);
    struct json_reader r = {.elements = {.dtype = t->dtype, .exact = value->untyped},
                            .tensor = t,
                            .input = input,
                            .scan = scan,
                            .end = at + size,
                            .work = work,
                            .error = error};
    enum error_code code = expect_shape(&r, at);
    if (code)
        return code;
    bool parallel =
        r.flat && t->dtype != DTYPE_BYTES && work->threads > 1 && size >= PARALLEL_BYTES;
    code = parallel ? read_in_parallel(&r, at) : read_serially(&r, at);
    if (code)
        return code;
    if (t->rank < 0) {
        t->rank = r.leaf;
        memcpy(t->shape, r.sizes, (size_t)r.leaf * sizeof(t->shape[0]));
    }
    t->data = r.data;
    *bare_tokens |= r.elements.bare_tokens;
    return ERROR_NONE;
}
