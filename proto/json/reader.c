#include "proto/json/reader.h"

#include "proto/json/fault.h"
#include "proto/json/word.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How far each type reaches. */
#define RANGE_INT8   "[-128, 127]"
#define RANGE_INT16  "[-32768, 32767]"
#define RANGE_INT32  "[-2147483648, 2147483647]"
#define RANGE_INT64  "[-9223372036854775808, 9223372036854775807]"
#define RANGE_UINT8  "[0, 255]"
#define RANGE_UINT16 "[0, 65535]"
#define RANGE_UINT32 "[0, 4294967295]"
#define RANGE_UINT64 "[0, 18446744073709551615]"
#define RANGE_FP16   "[-65504, 65504]"
#define RANGE_BF16   "[-3.3895314e38, 3.3895314e38]"
#define RANGE_FP32   "[-3.4028235e38, 3.4028235e38]"
#define RANGE_FP64   "[-1.7976931348623157e308, 1.7976931348623157e308]"

/* The elements that a type takes: one, several, and their range. */
static const struct kind {
    const char *one, *several, *range;
    bool integer, real;
} kinds[DTYPE_COUNT] = {
#define INTEGER(ID, ...) [DTYPE_##ID] = {"an integer", "integers", RANGE_##ID, true, false},
#define REAL(ID, ...)    [DTYPE_##ID] = {"a number", "numbers", RANGE_##ID, false, true},
    [DTYPE_BOOL] = {"true, false, 0 or 1", "true, false, 0 or 1", "[0, 1]", false, false},
    [DTYPE_BYTES] = {"a string", "strings", "", false, false},
    DTYPE_SIGNED(INTEGER) DTYPE_UNSIGNED(INTEGER) DTYPE_HALVES(REAL) DTYPE_FLOATS(REAL)
#undef INTEGER
#undef REAL
};

enum {
    FOUND_SHOWN = 40,
    FOUND_MAX = FOUND_SHOWN + 4,
    NAME_BYTES = 64 + SHAPE_TEXT_MAX, /* an input's name, and a position or a shape */
    EXPECTED_MAX = 64
};

/* ---------------------------------------------------------------------------- what is spoken of */

/* The value at `at`, as text to show. */
static const char *found_at(const struct json_reader *r, const char *at, char *found)
{
    const char *end = at + 1;
    struct json_string string;
    struct json_fault fault;

    if (*at == '{' || *at == '[')
        return *at == '{' ? "an object" : "a list";
    if (*at == '"' && json_string_check(&string, at, r->end, &fault))
        end = string.end + 1;
    else
        while (end != r->end && !strchr(",[]{}\" \t\r\n", *end))
            end++;
    int shown = end - at < FOUND_SHOWN ? (int)(end - at) : FOUND_SHOWN;
    while (shown < end - at && (at[shown] & 0xC0) == 0x80)
        shown--;
    snprintf(found, FOUND_MAX, "%.*s%s", shown, at, shown < end - at ? "..." : "");
    return found;
}

/* The position, and its rank, of the element or the list that was to be read. */
static int position_of(const struct json_reader *r, int64_t *position)
{
    if (r->flat)
        return json_position(position, r->tensor->shape, r->tensor->rank, r->seen[0]);
    memcpy(position, r->seen, (size_t)r->depth * sizeof(*position));
    return r->depth;
}

/* "tensor[1, 0]" */
static const char *name_at(const struct json_reader *r, const int64_t *position, int rank,
                           char *name)
{
    char text[SHAPE_TEXT_MAX];

    snprintf(name, NAME_BYTES, "%s%s", r->input, rank > 0 ? shape_print(text, position, rank) : "");
    return name;
}

static const char *name_of(const struct json_reader *r, char *name)
{
    int64_t position[RANK_MAX];

    return name_at(r, position, position_of(r, position), name);
}

static enum error_code placed(const struct json_reader *r)
{
    int64_t position[RANK_MAX];

    json_fault_place(r->error, position, position_of(r, position));
    return r->error->code;
}

/* Whether a list must open where the reader stands. A tensor without a shape may be one element,
 * but a value that is no element was hardly meant as one. */
static bool wants_list(const struct json_reader *r)
{
    return r->depth < r->leaf || (r->depth == 0 && r->tensor->rank != 0);
}

/* "a number", "a list of numbers" */
static const char *wanted(const struct json_reader *r, char *text)
{
    const struct kind *kind = &kinds[r->tensor->dtype];

    if (!wants_list(r))
        return kind->one;
    snprintf(text, EXPECTED_MAX, "a list of %s", kind->several);
    return text;
}

/* Advice where the client named no type. */
static const char *type_hint(const struct json_reader *r)
{
    return r->elements.exact ? "; it is FP32 because it has no datatype: name one, as in "
                               "{\"datatype\": \"FP64\", \"data\": ...}"
                             : "";
}

/* ------------------------------------------------------------------------------------- elements */

enum error_code json_reader_expected(const struct json_reader *r, const char *at,
                                     const char *expected)
{
    struct json_fault fault = {at, expected};

    return json_fault_say(&fault, r->scan->text, r->scan->text + r->scan->size, r->input, r->error);
}

static enum error_code out_of_range(const struct json_reader *r, const char *at)
{
    char name[NAME_BYTES], found[FOUND_MAX];

    error_set(r->error, ERROR_VALUE_OUT_OF_RANGE, r->input, "%s = %s is out of range for %s %s%s",
              name_of(r, name), found_at(r, at, found), dtype_name(r->tensor->dtype),
              kinds[r->tensor->dtype].range, type_hint(r));
    return placed(r);
}

static enum error_code inexact(const struct json_reader *r, const char *at)
{
    char name[NAME_BYTES], found[FOUND_MAX];

    error_set(r->error, ERROR_VALUE_OUT_OF_RANGE, r->input, "%s = %s is not exact in %s%s",
              name_of(r, name), found_at(r, at, found), dtype_name(r->tensor->dtype), type_hint(r));
    return placed(r);
}

static enum error_code not_an_integer(const struct json_reader *r, const char *at)
{
    char name[NAME_BYTES], found[FOUND_MAX];

    error_set(r->error, ERROR_VALUE_OUT_OF_RANGE, r->input,
              "%s = %s is not an integer; %s takes %s", name_of(r, name), found_at(r, at, found),
              dtype_name(r->tensor->dtype), kinds[r->tensor->dtype].range);
    return placed(r);
}

static enum error_code wrong_kind(const struct json_reader *r, const char *at, const char *why)
{
    char name[NAME_BYTES], found[FOUND_MAX], expected[EXPECTED_MAX];

    error_set(r->error, ERROR_INVALID_FIELD, r->input, "%s is %s; expected %s%s%s",
              name_of(r, name), found_at(r, at, found), wanted(r, expected), why, type_hint(r));
    return placed(r);
}

static bool is_word(const struct json_reader *r, const char *at, enum dtype dtype)
{
    uint64_t element;
    bool bare = false;

    return json_word_read(dtype, at, r->end, &element, &bare) != NULL;
}

static bool is_null(const struct json_reader *r, const char *at)
{
    return r->end - at >= 4 && memcmp(at, "null", 4) == 0;
}

/* Says that no element of the tensor's type stands at `at`. */
static enum error_code no_element(const struct json_reader *r, const char *at)
{
    const struct kind *kind = &kinds[r->tensor->dtype];

    if (at == r->end)
        return json_reader_expected(r, at, kind->one);
    if (*at == '[')
        return json_reader_list(r, at);
    if (is_null(r, at))
        return wrong_kind(r, at, kind->real ? "; null may mean NaN or Infinity: say which" : "");
    if (*at == '{' || *at == '"' || is_word(r, at, DTYPE_BOOL) || number_end(at, r->end))
        return wrong_kind(r, at, "");
    if (is_word(r, at, DTYPE_FP64))
        return kind->integer ? not_an_integer(r, at) : wrong_kind(r, at, "");
    return json_reader_expected(r, at, json_expected(at, r->end, kind->one));
}

enum error_code json_reader_element(const struct json_reader *r, struct number_run run)
{
    switch (run.stop) {
    case NUMBER_RANGE:
        return out_of_range(r, run.at);
    case NUMBER_FRACTION:
        return not_an_integer(r, run.at);
    case NUMBER_INEXACT:
        return inexact(r, run.at);
    default:
        return no_element(r, run.at);
    }
}

/* --------------------------------------------------------------------------------------- shapes */

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

/* "is ragged", or how the nesting should be. */
static const char *should_be(const struct json_reader *r, char *text)
{
    char shape[SHAPE_TEXT_MAX];

    if (r->tensor->rank < 0)
        return "is ragged";
    snprintf(text, NAME_BYTES, "is not nested as its shape %s",
             shape_print(shape, r->tensor->shape, r->tensor->rank));
    return text;
}

/* "tensor is ragged: tensor[1] is a list (byte 24 of the JSON text); expected a number" */
static enum error_code wrong_nesting(const struct json_reader *r, const char *at,
                                     const char *expected)
{
    char shape[NAME_BYTES], name[NAME_BYTES], found[FOUND_MAX];

    error_set(r->error, ERROR_SHAPE_MISMATCH, r->input,
              "%s %s: %s is %s (byte %zu of the JSON text); expected %s", r->input,
              should_be(r, shape), name_of(r, name), found_at(r, at, found),
              (size_t)(at - r->scan->text), expected);
    return placed(r);
}

enum error_code json_reader_list(const struct json_reader *r, const char *at)
{
    return wrong_nesting(r, at, kinds[r->tensor->dtype].one);
}

enum error_code json_reader_no_list(const struct json_reader *r, const char *at)
{
    return wrong_nesting(r, at, "a list");
}

enum error_code json_reader_overflow(const struct json_reader *r)
{
    char shape[SHAPE_TEXT_MAX];

    return error_set(r->error, ERROR_SIZE_MISMATCH, r->input,
                     "the shape %s of %s has more elements than fit 64 bits",
                     shape_print(shape, r->tensor->shape, r->tensor->rank), r->input);
}

enum error_code json_reader_rank(const struct json_reader *r, const char *at)
{
    return error_set(r->error, ERROR_SHAPE_MISMATCH, r->input,
                     "%s is nested more than %d deep at byte %zu of the JSON text; at most %d "
                     "dimensions are possible",
                     r->input, RANK_MAX, (size_t)(at - r->scan->text), RANK_MAX);
}

enum error_code json_reader_size(const struct json_reader *r, const char *at)
{
    char shape[NAME_BYTES], name[NAME_BYTES];
    int list = r->depth - 1; /* rank of its place */
    int64_t expected = r->sizes[list], seen = r->seen[list];

    if (r->flat)
        return error_set(r->error, ERROR_SIZE_MISMATCH, r->input,
                         "%s has %" PRId64 " element%s; its shape %s needs %" PRId64, r->input,
                         seen, plural(seen), shape_print(shape, r->tensor->shape, r->tensor->rank),
                         expected);
    error_set(r->error, ERROR_SHAPE_MISMATCH, r->input,
              "%s %s: %s has %" PRId64 " member%s; expected %" PRId64
              " (the list ends at byte %zu of the JSON text)",
              r->input, should_be(r, shape), name_at(r, r->seen, list, name), seen, plural(seen),
              expected, (size_t)(at - r->scan->text));
    json_fault_place(r->error, r->seen, list);
    return r->error->code;
}
