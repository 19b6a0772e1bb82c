#include "kernels/team.h"
#include "proto/json/fault.h"
#include "proto/json/string.h"
#include "proto/json/tensor.h"
#include "proto/json/word.h"
#include "proto/number/number.h"

#include <assert.h>
#include <string.h>

enum {
    LOOK_ELEMENTS = 64 * 1024,  /* BYTES between two looks at the stop flag */
    SLICE_ELEMENTS = 32 * 1024, /* numbers between two looks, and what a thread prints at a time */
    SLICES_MAX = 64,
    SLICES_PER_THREAD = 4,        /* threads differ in speed */
    PARALLEL_ELEMENTS = 96 * 1024 /* about a megabyte of text: several threads print */
};

/* Elements [at, end) of a tensor, printed with a comma after each. */
struct slice {
    int64_t at, end; /* `at` moves to the first that was not printed */
    char *text, *text_end;
};

struct printing {
    const struct tensor *t;
    enum nonfinite nonfinite;
    struct slice *slices;
    const struct work *work;
};

/* -------------------------------------------------------------------------------------- numbers */

/* Prints as far as it can: to the end, or to what is not finite. Nothing once work is stopped. */
static void print_slice(void *printing, int i)
{
    const struct printing *p = printing;
    const struct tensor *t = p->t;
    struct slice *s = &p->slices[i];
    size_t bytes = dtype_bytes(t->dtype);
    const char *elements = t->data;

    s->text_end = s->text;
    if (work_stopped(p->work))
        return;
    for (;;) {
        const char *next = elements + (size_t)s->at * bytes;
        int64_t printed = number_print(t->dtype, next, s->end - s->at, &s->text_end);
        s->at += printed;
        if (s->at == s->end || p->nonfinite == NONFINITE_ERROR)
            return;
        const char *word = json_word_text(t->dtype, next + (size_t)printed * bytes, p->nonfinite);
        size_t size = strlen(word);
        memcpy(s->text_end, word, size);
        s->text_end[size] = ',';
        s->text_end += size + 1;
        s->at++;
    }
}

static enum error_code say_stop(const struct tensor *t, int64_t at, const struct work *work,
                                struct error *error)
{
    int64_t position[RANK_MAX];
    char text[SHAPE_TEXT_MAX];

    if (work_stopped(work))
        return json_fault_stopped(NULL, error);
    int rank = json_position(position, t->shape, t->rank, at);
    error_set(error, ERROR_NONFINITE_IN_JSON, NULL,
              "output%s is %s, which JSON cannot say: ask for binary, or set the parameter "
              "json_nonfinite to token, string or null",
              rank > 0 ? shape_print(text, position, rank) : "",
              json_word_text(t->dtype, (char *)t->data + (size_t)at * dtype_bytes(t->dtype),
                             NONFINITE_TOKEN));
    json_fault_place(error, position, rank);
    return ERROR_NONFINITE_IN_JSON;
}

/* Slices of the elements from `at` on, each with the room that it may need at the most. */
static int cut(struct slice *slices, int n, const struct tensor *t, int64_t at, int64_t count,
               char *out)
{
    int i;

    for (i = 0; i < n && at < count; i++) {
        slices[i] = (struct slice){.at = at, .text = out};
        slices[i].end = count - at < SLICE_ELEMENTS ? count : at + SLICE_ELEMENTS;
        out += (size_t)(slices[i].end - at) * number_text_max(t->dtype);
        at = slices[i].end;
    }
    return i;
}

/* Prints a few slices at a time, each into the room of its longest text, and moves them together:
 * so little more memory is touched than the text takes in the end. */
static enum error_code print_numbers(const struct tensor *t, int64_t count,
                                     enum nonfinite nonfinite, char *out, char **end,
                                     const struct work *work, struct error *error)
{
    struct slice slices[SLICES_MAX];
    struct printing printing = {t, nonfinite, slices, work};
    bool parallel = work->threads > 1 && count >= PARALLEL_ELEMENTS;
    int most = !parallel                                        ? 1
               : work->threads < SLICES_MAX / SLICES_PER_THREAD ? work->threads * SLICES_PER_THREAD
                                                                : SLICES_MAX;

    for (int64_t at = 0; at < count;) {
        int n = cut(slices, most, t, at, count, out);
        at = slices[n - 1].end;
        team_share(work->threads, n, print_slice, &printing);
        for (int i = 0; i < n; i++) {
            if (slices[i].at < slices[i].end)
                return say_stop(t, slices[i].at, work, error);
            size_t size = (size_t)(slices[i].text_end - slices[i].text);
            if (i > 0)
                memmove(out, slices[i].text, size);
            out += size;
        }
    }
    *end = out;
    return ERROR_NONE;
}

/* -------------------------------------------------------------------------------------- strings */

static enum error_code say_not_utf8(const struct tensor *t, int64_t k, size_t bad,
                                    struct error *error)
{
    const struct span *value = (const struct span *)t->data + k;
    int64_t position[RANK_MAX];
    char text[SHAPE_TEXT_MAX];
    int rank = json_position(position, t->shape, t->rank, k);

    error_set(
        error, ERROR_NOT_UTF8, NULL,
        "output%s is not UTF-8 (its byte %zu is 0x%02x), so JSON cannot say it: ask for binary",
        rank > 0 ? shape_print(text, position, rank) : "", bad,
        (unsigned)(unsigned char)value->data[bad]);
    json_fault_place(error, position, rank);
    return ERROR_NOT_UTF8;
}

static enum error_code print_strings(const struct tensor *t, int64_t count, char *out, char **end,
                                     const struct work *work, struct error *error)
{
    const struct span *values = t->data;

    for (int64_t k = 0; k < count; k++) {
        size_t bad;
        if (k % LOOK_ELEMENTS == 0 && work_stopped(work))
            return json_fault_stopped(NULL, error);
        out = json_string_print(out, &values[k], &bad);
        if (!out)
            return say_not_utf8(t, k, bad, error);
        *out++ = ',';
    }
    *end = out;
    return ERROR_NONE;
}

/* ------------------------------------------------------------------------------------ the whole */

/* Room for the brackets. Each element is printed with a comma behind it, and the last comma becomes
 * the closing bracket. */
enum { BRACKETS = 2 };

size_t json_tensor_text_max(const struct tensor *t)
{
    const struct span *values = t->data;
    int64_t count;
    size_t size;

    if (!tensor_count(t, &count))
        return SIZE_MAX;
    bool overflow = __builtin_mul_overflow((size_t)count, number_text_max(t->dtype), &size) ||
                    __builtin_add_overflow(size, BRACKETS, &size);
    for (int64_t k = 0; t->dtype == DTYPE_BYTES && k < count; k++)
        overflow |= __builtin_add_overflow(size, json_string_size(&values[k]) + 1, &size);
    return overflow ? SIZE_MAX : size;
}

enum error_code json_tensor_print(const struct tensor *t, enum nonfinite nonfinite, char *out,
                                  size_t *size, const struct work *work, struct error *error)
{
    int64_t count;
    char *end = out + 1;
    bool counted = tensor_count(t, &count);

    assert(counted && t->dtype != DTYPE_C64 && t->dtype != DTYPE_C128);
    *out = '[';
    enum error_code code = t->dtype == DTYPE_BYTES
                               ? print_strings(t, count, out + 1, &end, work, error)
                               : print_numbers(t, count, nonfinite, out + 1, &end, work, error);
    if (code)
        return code;
    if (count > 0)
        end--;
    *end++ = ']';
    *size = (size_t)(end - out);
    return ERROR_NONE;
}
