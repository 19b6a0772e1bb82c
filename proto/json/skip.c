#include "proto/json/skip.h"

#include "proto/json/fault.h"
#include "proto/json/find.h"
#include "proto/json/scan.h"

enum { LOOK_BYTES = 256 * 1024 /* between two looks at the stop flag */ };

struct skip {
    const char *at, *end;
    int depth;
    uint64_t objects; /* a bit for each open bracket, the innermost lowest: it is a brace */
    struct json_fault *fault;
};

static bool fail(struct skip *s, const char *expected)
{
    *s->fault = (struct json_fault){s->at, expected};
    return false;
}

static bool skip_string(struct skip *s)
{
    struct json_string string;

    if (!json_string_check(&string, s->at, s->end, s->fault))
        return false;
    s->at = string.end + 1;
    return true;
}

static const char *closing(const struct skip *s)
{
    return s->objects & 1 ? "',' or '}'" : "',' or ']'";
}

/* Takes the byte that json_find_bracket found. */
static bool take(struct skip *s)
{
    char c = *s->at;

    if (c == '"')
        return skip_string(s);
    if (c == '[' || c == '{') {
        if (s->depth == JSON_DEPTH_MAX)
            return fail(s, JSON_DEPTH_EXPECTED);
        s->depth++;
        s->objects = s->objects << 1 | (c == '{');
    } else if (c == (s->objects & 1 ? '}' : ']')) {
        s->depth--;
        s->objects >>= 1;
    } else {
        return fail(s, closing(s));
    }
    s->at++;
    return true;
}

/* From the first bracket on past the one that closes it. */
static enum error_code skip_nested(struct skip *s, const struct work *work)
{
    const char *look = s->at;
    int outside = s->depth;

    do {
        const char *limit = s->end - s->at > LOOK_BYTES ? s->at + LOOK_BYTES : s->end;
        s->at = json_find_bracket(s->at, limit);
        if (s->at == s->end)
            return fail(s, closing(s)) ? ERROR_NONE : ERROR_INVALID_JSON;
        if (s->at != limit && !take(s))
            return ERROR_INVALID_JSON;
        if (s->at - look >= LOOK_BYTES && work_stopped(work))
            return ERROR_CANCELLED;
        if (s->at - look >= LOOK_BYTES)
            look = s->at;
    } while (s->depth > outside);
    return ERROR_NONE;
}

/* Whether a byte may be part of a number, of true or of NaN: whoever reads the value judges it. */
static bool is_bare(char c)
{
    char lower = (char)(c | 0x20);

    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '+' ||
           c == '.';
}

static bool skip_bare(struct skip *s)
{
    const char *begin = s->at;

    while (s->at != s->end && is_bare(*s->at))
        s->at++;
    return s->at > begin || fail(s, "a JSON value");
}

enum error_code json_skip(const char **at, const char *end, int depth, const struct work *work,
                          struct json_fault *fault)
{
    struct skip s = {.at = *at, .end = end, .depth = depth, .fault = fault};
    enum error_code code;

    if (**at == '[' || **at == '{')
        code = skip_nested(&s, work);
    else
        code = (**at == '"' ? skip_string(&s) : skip_bare(&s)) ? ERROR_NONE : ERROR_INVALID_JSON;
    *at = s.at;
    return code;
}
