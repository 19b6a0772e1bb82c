#include "proto/json/reader.h"

#include "proto/json/fault.h"
#include "proto/json/word.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What a type takes, and how far it reaches. */
static const struct kind {
    const char *expected, *range;
    bool integer, real;
} kinds[DTYPE_COUNT] = {
    [DTYPE_BOOL] = {"true, false, 0 or 1", "[0, 1]", false, false},
    [DTYPE_INT8] = {"an integer", "[-128, 127]", true, false},
    [DTYPE_INT16] = {"an integer", "[-32768, 32767]", true, false},
    [DTYPE_INT32] = {"an integer", "[-2147483648, 2147483647]", true, false},
    [DTYPE_INT64] = {"an integer", "[-9223372036854775808, 9223372036854775807]", true, false},
    [DTYPE_UINT8] = {"an integer", "[0, 255]", true, false},
    [DTYPE_UINT16] = {"an integer", "[0, 65535]", true, false},
    [DTYPE_UINT32] = {"an integer", "[0, 4294967295]", true, false},
    [DTYPE_UINT64] = {"an integer", "[0, 18446744073709551615]", true, false},
    [DTYPE_FP16] = {"a number", "[-65504, 65504]", false, true},
    [DTYPE_BF16] = {"a number", "[-3.3895314e38, 3.3895314e38]", false, true},
    [DTYPE_FP32] = {"a number", "[-3.4028235e38, 3.4028235e38]", false, true},
    [DTYPE_FP64] = {"a number", "[-1.7976931348623157e308, 1.7976931348623157e308]", false, true},
    [DTYPE_BYTES] = {"a string", "", false, false},
};

enum {
    FOUND_SHOWN = 40,
    FOUND_MAX = FOUND_SHOWN + 4,
    NAME_BYTES = 64 + SHAPE_TEXT_MAX /* an input's name, and a position or a shape */
};

/* ---------------------------------------------------------------------------- what is spoken of */

/* The value at `at`, as text to show. */
static const char *found_at(const struct json_reader *r, const char *at, char *found)
{
    const char *end = at + 1;
    struct json_string string;
    struct json_fault fault;

    if (*at == '{')
        return "an object";
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

/* Where the element stands that was to be read. */
static int position_of(const struct json_reader *r, int64_t *position)
{
    if (r->flat)
        return json_position(position, r->tensor->shape, r->tensor->rank, r->seen[0]);
    memcpy(position, r->seen, (size_t)r->depth * sizeof(*position));
    return r->depth;
}

/* "tensor[1, 0]" */
static const char *name_of(const struct json_reader *r, char *name)
{
    char text[SHAPE_TEXT_MAX];
    int64_t position[RANK_MAX];
    int rank = position_of(r, position);

    snprintf(name, NAME_BYTES, "%s%s", r->input, rank > 0 ? shape_print(text, position, rank) : "");
    return name;
}

static enum error_code placed(const struct json_reader *r)
{
    int64_t position[RANK_MAX];

    json_fault_place(r->error, position, position_of(r, position));
    return r->error->code;
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

    error_set(r->error, ERROR_VALUE_OUT_OF_RANGE, r->input, "%s = %s is out of range for %s %s",
              name_of(r, name), found_at(r, at, found), dtype_name(r->tensor->dtype),
              kinds[r->tensor->dtype].range);
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
    char name[NAME_BYTES], found[FOUND_MAX];

    error_set(r->error, ERROR_INVALID_FIELD, r->input, "%s is %s; expected %s%s", name_of(r, name),
              found_at(r, at, found), kinds[r->tensor->dtype].expected, why);
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

/* Something else than an element of the tensor's type, or nothing. */
static enum error_code no_element(const struct json_reader *r, const char *at)
{
    const struct kind *kind = &kinds[r->tensor->dtype];

    if (at == r->end)
        return json_reader_expected(r, at, kind->expected);
    if (*at == '[')
        return json_reader_depth(r, at, "a list");
    if (is_null(r, at))
        return wrong_kind(r, at, kind->real ? "; null may mean NaN or Infinity: say which" : "");
    if (*at == '{' || *at == '"' || is_word(r, at, DTYPE_BOOL) || number_end(at, r->end))
        return wrong_kind(r, at, "");
    if (is_word(r, at, DTYPE_FP64))
        return kind->integer ? not_an_integer(r, at) : wrong_kind(r, at, "");
    return json_reader_expected(r, at, json_expected(at, r->end, kind->expected));
}

enum error_code json_reader_element(const struct json_reader *r, struct number_run run)
{
    switch (run.stop) {
    case NUMBER_RANGE:
        return out_of_range(r, run.at);
    case NUMBER_FRACTION:
        return not_an_integer(r, run.at);
    default:
        return no_element(r, run.at);
    }
}

/* --------------------------------------------------------------------------------------- shapes */

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

enum error_code json_reader_depth(const struct json_reader *r, const char *at, const char *what)
{
    char text[NAME_BYTES];

    return error_set(r->error, ERROR_SHAPE_MISMATCH, r->input,
                     "%s %s: byte %zu of the JSON text begins %s at depth %d; elements "
                     "stand at depth %d",
                     r->input, should_be(r, text), (size_t)(at - r->scan->text), what, r->depth,
                     r->leaf);
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
    char text[NAME_BYTES];
    int64_t expected = r->sizes[r->depth - 1], seen = r->seen[r->depth - 1];

    if (r->flat)
        return error_set(r->error, ERROR_SIZE_MISMATCH, r->input,
                         "%s has %" PRId64 " elements; its shape %s needs %" PRId64, r->input, seen,
                         shape_print(text, r->tensor->shape, r->tensor->rank), expected);
    return error_set(r->error, ERROR_SHAPE_MISMATCH, r->input,
                     "%s %s: the list that ends at byte %zu of the JSON text has %" PRId64
                     " members; expected %" PRId64,
                     r->input, should_be(r, text), (size_t)(at - r->scan->text), seen, expected);
}
