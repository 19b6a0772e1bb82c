#include "tests/support/golden.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A place in the line. Each read_* reads one thing and moves behind it. */
struct reader {
    struct golden *golden;
    const char *at;
};

_Noreturn static void fail(const struct reader *r, const char *expected)
{
    fprintf(stderr, "golden: expected %s at: %.60s\nin: %.200s\n", expected, r->at,
            r->golden->line);
    abort();
}

/* Memory of the current case, which the line's length bounds: see golden_next. */
static void *take(struct reader *r, size_t bytes)
{
    struct golden *g = r->golden;
    size_t room = (bytes + 15) / 16 * 16;
    if (room > g->memory_size - g->memory_used)
        fail(r, "fewer elements than this shape has");
    void *p = g->memory + g->memory_used;
    g->memory_used += room;
    return p;
}

static void skip_blanks(struct reader *r)
{
    r->at += strspn(r->at, " \n");
}

static bool accept(struct reader *r, const char *token)
{
    skip_blanks(r);
    size_t size = strlen(token);
    if (strncmp(r->at, token, size) != 0)
        return false;
    r->at += size;
    return true;
}

static void expect(struct reader *r, const char *token)
{
    if (!accept(r, token))
        fail(r, token);
}

/* Between members or elements: true when another one follows. */
static bool more(struct reader *r, const char *close)
{
    if (accept(r, ","))
        return true;
    expect(r, close);
    return false;
}

/* ----------------------------------------------------------------------------------- strings */

static unsigned read_hex(struct reader *r)
{
    unsigned unit;
    if (sscanf(r->at, "%4x", &unit) != 1)
        fail(r, "four hexadecimal digits");
    r->at += 4;
    return unit;
}

static char *write_utf8(char *out, unsigned point)
{
    static const struct {
        unsigned limit;
        unsigned char lead;
        int tail;
    } forms[] = {{0x80, 0, 0}, {0x800, 0xC0, 1}, {0x10000, 0xE0, 2}, {0x110000, 0xF0, 3}};
    int form = 0;
    while (point >= forms[form].limit)
        form++;
    int tail = forms[form].tail;
    *out++ = (char)(forms[form].lead | point >> 6 * tail);
    while (tail-- > 0)
        *out++ = (char)(0x80 | (point >> 6 * tail & 0x3F));
    return out;
}

/* What follows a backslash. */
static char *read_escape(struct reader *r, char *out)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    char letter = *r->at++;
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (known) {
        *out = bytes[known - letters];
        return out + 1;
    }
    if (letter != 'u')
        fail(r, "an escape");
    unsigned point = read_hex(r);
    if (point >= 0xD800 && point < 0xDC00) {
        expect(r, "\\u");
        point = 0x10000 + ((point - 0xD800) << 10) + (read_hex(r) - 0xDC00);
    }
    return write_utf8(out, point);
}

static struct span read_string(struct reader *r)
{
    expect(r, "\"");
    char *text = take(r, strcspn(r->at, "\n") + 1), *out = text;
    while (*r->at != '"') {
        if (*r->at == '\0')
            fail(r, "the end of the string");
        if (*r->at != '\\')
            *out++ = *r->at++;
        else {
            r->at++;
            out = read_escape(r, out);
        }
    }
    r->at++;
    *out = '\0';
    r->golden->memory_used = ((size_t)(out + 1 - r->golden->memory) + 15) / 16 * 16;
    return (struct span){text, (size_t)(out - text)};
}

static const char *read_name(struct reader *r)
{
    return read_string(r).data;
}

/* ----------------------------------------------------------------------------------- numbers */

static int64_t read_signed(struct reader *r)
{
    char *end;
    errno = 0;
    skip_blanks(r);
    long long v = strtoll(r->at, &end, 10);
    if (end == r->at || errno)
        fail(r, "an integer of 64 bits");
    r->at = end;
    return v;
}

static uint64_t read_unsigned(struct reader *r)
{
    char *end;
    errno = 0;
    skip_blanks(r);
    unsigned long long v = strtoull(r->at, &end, 10);
    if (end == r->at || errno)
        fail(r, "an unsigned integer of 64 bits");
    r->at = end;
    return v;
}

/* strtod knows NaN and Infinity, too. */
static double read_double(struct reader *r)
{
    char *end;
    skip_blanks(r);
    double v = strtod(r->at, &end);
    if (end == r->at)
        fail(r, "a number");
    r->at = end;
    return v;
}

/* Rounds once, to nearest even, to a type with `mantissa` bits below the leading one and exponents
 * from `lowest` (of the smallest normal number) to -lowest + 1. Plain arithmetic: a scaled value is
 * rounded to an integer. */
static uint16_t round_to_half(double v, int mantissa, int lowest)
{
    unsigned sign = signbit(v) ? 0x8000 : 0;
    unsigned infinite = (unsigned)(2 * -lowest + 3) << mantissa;
    if (isnan(v))
        return (uint16_t)(sign | infinite | 1u << (mantissa - 1));
    if (isinf(v) || v == 0)
        return (uint16_t)(sign | (v == 0 ? 0 : infinite));
    int exponent;
    (void)frexp(v, &exponent);
    exponent = exponent - 1 < lowest ? lowest : exponent - 1;
    double ulps = nearbyint(ldexp(fabs(v), mantissa - exponent));
    unsigned bits = ((unsigned)(exponent - lowest) << mantissa) + (unsigned)ulps;
    return (uint16_t)(sign | (bits < infinite ? bits : infinite));
}

static void read_element(struct reader *r, enum dtype dtype, void *data, int64_t i)
{
    switch (dtype) {
#define X(ID, id, T, ...)                                                                          \
    case DTYPE_##ID:                                                                               \
        ((T *)data)[i] = (T)read_signed(r);                                                        \
        break;
        DTYPE_SIGNED(X)
#undef X
#define X(ID, id, T, ...)                                                                          \
    case DTYPE_##ID:                                                                               \
        ((T *)data)[i] = (T)read_unsigned(r);                                                      \
        break;
        DTYPE_UNSIGNED(X)
#undef X
    case DTYPE_FP16:
        ((uint16_t *)data)[i] = round_to_half(read_double(r), 10, -14);
        break;
    case DTYPE_BF16:
        ((uint16_t *)data)[i] = round_to_half(read_double(r), 7, -126);
        break;
    case DTYPE_FP32:
    case DTYPE_C64:
        ((float *)data)[i] = (float)read_double(r);
        break;
    case DTYPE_FP64:
    case DTYPE_C128:
        ((double *)data)[i] = read_double(r);
        break;
    case DTYPE_BOOL:
        ((uint8_t *)data)[i] = accept(r, "true");
        if (!((uint8_t *)data)[i])
            expect(r, "false");
        break;
    default:
        ((struct span *)data)[i] = read_string(r);
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
    expect(r, "[");
    if (accept(r, "]"))
        return 0;
    do {
        if (n == RANK_MAX)
            fail(r, "fewer dimensions");
        values[n++] = read_signed(r);
    } while (more(r, "]"));
    return n;
}

static void read_data(struct reader *r, struct golden_tensor *t)
{
    int64_t numbers = golden_numbers(&t->tensor);
    if (t->tensor.dtype == DTYPE_NONE || !tensor_bytes(&t->tensor, &t->size_bytes))
        fail(r, "a datatype and a shape before the data");
    t->tensor.data = take(r, t->size_bytes);
    expect(r, "[");
    for (int64_t i = 0; i < numbers; i++) {
        if (i > 0)
            expect(r, ",");
        read_element(r, t->tensor.dtype, t->tensor.data, i);
    }
    expect(r, "]");
}

static enum dtype read_dtype(struct reader *r)
{
    struct span name = read_string(r);
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++)
        if (strcmp(dtype_name((enum dtype)d), name.data) == 0)
            return (enum dtype)d;
    fail(r, "a known datatype");
}

static void read_tensor(struct reader *r, struct golden_tensor *t)
{
    *t = (struct golden_tensor){0};
    expect(r, "{");
    do {
        if (accept(r, "\"name\":"))
            t->name = read_name(r);
        else if (accept(r, "\"datatype\":"))
            t->tensor.dtype = read_dtype(r);
        else if (accept(r, "\"shape\":"))
            t->tensor.rank = read_integers(r, t->tensor.shape);
        else if (accept(r, "\"data\":"))
            read_data(r, t);
        else
            fail(r, "a member of a tensor");
    } while (more(r, "}"));
}

static int read_tensors(struct reader *r, struct golden_tensor *t, int most)
{
    int n = 0;
    expect(r, "[");
    do {
        if (n == most)
            fail(r, "fewer tensors");
        read_tensor(r, &t[n++]);
    } while (more(r, "]"));
    return n;
}

static void read_request(struct reader *r, struct golden_case *c)
{
    expect(r, "{");
    do {
        if (accept(r, "\"parameters\": {\"bad_indices_policy\":")) {
            c->policy = read_name(r);
            expect(r, "}");
        } else if (accept(r, "\"inputs\":"))
            c->input_count = read_tensors(r, c->inputs, GOLDEN_INPUTS_MAX);
        else
            fail(r, "a member of a request");
    } while (more(r, "}"));
}

static void read_error(struct reader *r, struct golden_error *e)
{
    *e = (struct golden_error){.position_rank = -1, .index_rank = -1, .bound_rank = -1};
    expect(r, "{");
    do {
        if (accept(r, "\"code\":"))
            e->code = read_name(r);
        else if (accept(r, "\"input\":"))
            e->input = read_name(r);
        else if (accept(r, "\"position\":"))
            e->position_rank = read_integers(r, e->position);
        else if (accept(r, "\"index\":"))
            e->index_rank = read_integers(r, e->index);
        else if (accept(r, "\"bound\":"))
            e->bound_rank = read_integers(r, e->bound);
        else
            fail(r, "a member of an error");
    } while (more(r, "}"));
}

static void read_case(struct reader *r, struct golden_case *c)
{
    bool answered = false;
    *c = (struct golden_case){.policy = ""};
    expect(r, "{");
    do {
        if (accept(r, "\"case\":"))
            c->name = read_name(r);
        else if (accept(r, "\"op\":"))
            c->op = read_name(r);
        else if (accept(r, "\"reference\":") || accept(r, "\"note\":"))
            (void)read_name(r);
        else if (accept(r, "\"request\":"))
            read_request(r, c);
        else if (accept(r, "\"outputs\":"))
            answered = read_tensors(r, &c->output, 1) == 1;
        else if (accept(r, "\"error\":")) {
            read_error(r, &c->error);
            c->fails = true;
        } else
            fail(r, "a member of a case");
    } while (more(r, "}"));
    if (answered == c->fails)
        fail(r, "either outputs or an error");
}

/* -------------------------------------------------------------------------------------- files */

void golden_open(struct golden *g, const char *path)
{
    *g = (struct golden){.file = fopen(path, "r")};
    if (!g->file) {
        perror(path);
        abort();
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
