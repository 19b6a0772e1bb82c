#include "tests/support/golden/golden.h"
#include "kernels/op.h"
#include "tests/support/golden/text.h"
#include "tests/support/kernels/number.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void read_element(struct reader *r, enum dtype dtype, void *data, int64_t i)
{
    switch (dtype) {
#define X(ID, id, T, ...)                                                                          \
    case DTYPE_##ID:                                                                               \
        ((T *)data)[i] = (T)reader_signed(r);                                                      \
        break;
        DTYPE_SIGNED(X)
#undef X
#define X(ID, id, T, ...)                                                                          \
    case DTYPE_##ID:                                                                               \
        ((T *)data)[i] = (T)reader_unsigned(r);                                                    \
        break;
        DTYPE_UNSIGNED(X)
#undef X
    case DTYPE_FP16:
    case DTYPE_BF16:
        ((uint16_t *)data)[i] = number_round(reader_double(r), dtype);
        break;
    case DTYPE_FP32:
    case DTYPE_C64:
        ((float *)data)[i] = (float)reader_double(r);
        break;
    case DTYPE_FP64:
    case DTYPE_C128:
        ((double *)data)[i] = reader_double(r);
        break;
    case DTYPE_BOOL:
        ((uint8_t *)data)[i] = reader_accept(r, "true");
        if (!((uint8_t *)data)[i])
            reader_expect(r, "false");
        break;
    default:
        ((struct span *)data)[i] = reader_string(r);
    }
}

/* ----------------------------------------------------------------------------------- members */

int64_t golden_numbers(const struct tensor *t)
{
    int64_t count;
    if (!tensor_count(t, &count))
        return -1;
    return t->dtype == DTYPE_C64 || t->dtype == DTYPE_C128 ? 2 * count : count;
}

static int read_integers(struct reader *r, int64_t *values)
{
    int n = 0;
    reader_expect(r, "[");
    if (reader_accept(r, "]"))
        return 0;
    do {
        if (n == RANK_MAX)
            reader_fail(r, "fewer dimensions");
        values[n++] = reader_signed(r);
    } while (reader_more(r, "]"));
    return n;
}

static void read_data(struct reader *r, struct golden_tensor *t)
{
    int64_t numbers = golden_numbers(&t->tensor);
    if (t->tensor.dtype == DTYPE_NONE || !tensor_bytes(&t->tensor, &t->size_bytes))
        reader_fail(r, "a datatype and a shape before the data");
    t->tensor.data = reader_take(r, t->size_bytes);
    reader_expect(r, "[");
    for (int64_t i = 0; i < numbers; i++) {
        if (i > 0)
            reader_expect(r, ",");
        read_element(r, t->tensor.dtype, t->tensor.data, i);
    }
    reader_expect(r, "]");
}

static enum dtype read_dtype(struct reader *r)
{
    struct span name = reader_string(r);
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++)
        if (strcmp(dtype_name((enum dtype)d), name.data) == 0)
            return (enum dtype)d;
    reader_fail(r, "a known datatype");
}

static void read_tensor(struct reader *r, struct golden_tensor *t)
{
    *t = (struct golden_tensor){0};
    reader_expect(r, "{");
    do {
        if (reader_accept(r, "\"name\":"))
            t->name = reader_name(r);
        else if (reader_accept(r, "\"datatype\":"))
            t->tensor.dtype = read_dtype(r);
        else if (reader_accept(r, "\"shape\":"))
            t->tensor.rank = read_integers(r, t->tensor.shape);
        else if (reader_accept(r, "\"data\":"))
            read_data(r, t);
        else
            reader_fail(r, "a member of a tensor");
    } while (reader_more(r, "}"));
}

static int read_tensors(struct reader *r, struct golden_tensor *t, int most)
{
    int n = 0;
    reader_expect(r, "[");
    do {
        if (n == most)
            reader_fail(r, "fewer tensors");
        read_tensor(r, &t[n++]);
    } while (reader_more(r, "]"));
    return n;
}

static void read_request(struct reader *r, struct golden_case *c)
{
    reader_expect(r, "{");
    do {
        if (reader_accept(r, "\"parameters\": {\"bad_indices_policy\":")) {
            c->policy = reader_name(r);
            reader_expect(r, "}");
        } else if (reader_accept(r, "\"inputs\":"))
            c->input_count = read_tensors(r, c->inputs, GOLDEN_INPUTS_MAX);
        else
            reader_fail(r, "a member of a request");
    } while (reader_more(r, "}"));
}

static void read_error(struct reader *r, struct golden_error *e)
{
    *e = (struct golden_error){.position_rank = -1, .index_rank = -1, .bound_rank = -1};
    reader_expect(r, "{");
    do {
        if (reader_accept(r, "\"code\":"))
            e->code = reader_name(r);
        else if (reader_accept(r, "\"input\":"))
            e->input = reader_name(r);
        else if (reader_accept(r, "\"position\":"))
            e->position_rank = read_integers(r, e->position);
        else if (reader_accept(r, "\"index\":"))
            e->index_rank = read_integers(r, e->index);
        else if (reader_accept(r, "\"bound\":"))
            e->bound_rank = read_integers(r, e->bound);
        else
            reader_fail(r, "a member of an error");
    } while (reader_more(r, "}"));
}

static void read_case(struct reader *r, struct golden_case *c)
{
    bool answered = false;
    *c = (struct golden_case){.policy = ""};
    reader_expect(r, "{");
    do {
        if (reader_accept(r, "\"case\":"))
            c->name = reader_name(r);
        else if (reader_accept(r, "\"op\":"))
            c->op = reader_name(r);
        else if (reader_accept(r, "\"reference\":") || reader_accept(r, "\"note\":"))
            (void)reader_name(r);
        else if (reader_accept(r, "\"request\":"))
            read_request(r, c);
        else if (reader_accept(r, "\"outputs\":"))
            answered = read_tensors(r, &c->output, 1) == 1;
        else if (reader_accept(r, "\"error\":")) {
            read_error(r, &c->error);
            c->fails = true;
        } else
            reader_fail(r, "a member of a case");
    } while (reader_more(r, "}"));
    if (answered == c->fails)
        reader_fail(r, "either outputs or an error");
}

/* -------------------------------------------------------------------------------------- files */

int golden_files(void)
{
    assert(op_count() < GOLDEN_FILES_MAX);
    return op_count() + 1;
}

const char *golden_file_at(int i)
{
    static char paths[GOLDEN_FILES_MAX][64];
    snprintf(paths[i], sizeof paths[i], "tests/golden/%s.jsonl",
             i < op_count() ? op_at(i)->name : "edges");
    return paths[i];
}

void golden_open(struct golden *g, const char *path)
{
    *g = (struct golden){.file = fopen(path, "r")};
    if (!g->file) {
        fprintf(stderr, "%s: %s; each operation has its cases there\n", path, strerror(errno));
        exit(EXIT_FAILURE);
    }
}

/* No element takes more than 16 bytes nor less than two characters; the slack is for strings being
 * read, and for rounding up. */
bool golden_next(struct golden *g, struct golden_case *c)
{
    ssize_t length = getline(&g->line, &g->line_size, g->file);
    if (length <= 0)
        return false;
    size_t needed = 16 * (size_t)length + 65536;
    if (needed > g->memory_size) {
        free(g->memory);
        g->memory = malloc(needed);
        g->memory_size = needed;
        assert(g->memory);
    }
    g->memory_used = 0;
    read_case(&(struct reader){g, g->line}, c);
    return true;
}

void golden_close(struct golden *g)
{
    fclose(g->file);
    free(g->line);
    free(g->memory);
}

/* ---------------------------------------------------------------------------------- comparing */

static bool is_nan(enum dtype dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case DTYPE_FP16:
        return (((const uint16_t *)data)[i] & 0x7FFF) > 0x7C00;
    case DTYPE_BF16:
        return (((const uint16_t *)data)[i] & 0x7FFF) > 0x7F80;
    case DTYPE_FP32:
    case DTYPE_C64:
        return isnan(((const float *)data)[i]);
    case DTYPE_FP64:
    case DTYPE_C128:
        return isnan(((const double *)data)[i]);
    default:
        return false;
    }
}

static bool equal_element(const struct tensor *a, const struct tensor *b, size_t bytes, int64_t i)
{
    if (a->dtype == DTYPE_BYTES) {
        const struct span *x = (const struct span *)a->data + i,
                          *y = (const struct span *)b->data + i;
        return x->size == y->size && (x->size == 0 || memcmp(x->data, y->data, x->size) == 0);
    }
    size_t at = (size_t)i * bytes;
    return memcmp((const char *)a->data + at, (const char *)b->data + at, bytes) == 0 ||
           (is_nan(a->dtype, a->data, i) && is_nan(b->dtype, b->data, i));
}

bool golden_equal(const struct tensor *a, const struct tensor *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    int64_t numbers = golden_numbers(a), count;
    if (numbers <= 0 || !tensor_count(a, &count))
        return numbers == 0;
    size_t bytes = dtype_bytes(a->dtype) * (size_t)count / (size_t)numbers;
    for (int64_t i = 0; i < numbers; i++)
        if (!equal_element(a, b, bytes, i))
            return false;
    return true;
}
