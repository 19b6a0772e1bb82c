#include "server/http/route.h"
#include "server/http/route_hint.h"

#include <stdlib.h>
#include <string.h>

static const char *const segment_names[] = {
#define X(ID, NAME) [SEGMENT_##ID] = NAME,
    SEGMENT_TABLE(X)
#undef X
};

/* The number of the name that begins at `name` and ends at a brace. */
static enum segment_name find_segment(const char *name)
{
    for (int i = 0; i < SEGMENT_COUNT; i++) {
        size_t size = strlen(segment_names[i]);
        if (strncmp(name, segment_names[i], size) == 0 && name[size] == '}')
            return (enum segment_name)i;
    }
    abort(); /* a row names a segment that SEGMENT_TABLE has not */
}

/* Takes one segment of the URL for the {name} at `pattern`; returns what follows the brace, or NULL
 * when the segment is empty. */
static const char *take_segment(struct route_match *match, const char *pattern, const char **url)
{
    struct segment segment = {*url, strcspn(*url, "/")};
    if (segment.size == 0)
        return NULL;
    match->segments[find_segment(pattern + 1)] = segment;
    *url += segment.size;
    return strchr(pattern, '}') + 1;
}

/* The optional part is there iff its fixed beginning is. */
static const char *enter_or_skip(const char *pattern, const char *url)
{
    size_t fixed = strcspn(pattern + 1, "{]");
    return strncmp(pattern + 1, url, fixed) == 0 ? pattern + 1 : strchr(pattern, ']') + 1;
}

static bool matches(struct route_match *match, const char *pattern, const char *url)
{
    while (*pattern) {
        if (*pattern == '{') {
            pattern = take_segment(match, pattern, &url);
            if (!pattern)
                return false;
        } else if (*pattern == '[') {
            pattern = enter_or_skip(pattern, url);
        } else if (*pattern == ']') {
            pattern++;
        } else if (*pattern++ != *url++) {
            return false;
        }
    }
    return *url == '\0';
}

/* How many bytes of a segment a sentence shows. */
static int printed_size(struct segment segment)
{
    return segment.size < 100 ? (int)segment.size : 100;
}

static enum error_code no_operation(struct segment op, struct error *error)
{
    const char *like = route_hint_operation(op.text, op.size);
    return error_set(error, ERROR_MODEL_NOT_FOUND, NULL,
                     "there is no operation '%.*s'%s%s%s (GET /v2/models lists them)",
                     printed_size(op), op.text, like ? "; did you mean '" : "", like ? like : "",
                     like ? "'?" : "");
}

static enum error_code find_model(struct route_match *match, struct error *error)
{
    struct segment op = match->segments[SEGMENT_OP], version = match->segments[SEGMENT_VERSION];
    if (!op.text)
        return ERROR_NONE;
    if (!op_find(op.text, op.size, &match->op_name))
        return no_operation(op, error);
    if (version.text && (version.size != 1 || *version.text != '1'))
        return error_set(error, ERROR_MODEL_NOT_FOUND, NULL,
                         "operation '%s' has no version '%.*s', only version 1",
                         match->op_name.name, printed_size(version), version.text);
    return ERROR_NONE;
}

static enum error_code check_tensor(const struct route_match *match, struct error *error)
{
    struct segment name = match->segments[SEGMENT_TENSOR];
    if (!name.text || tensor_name_is_legal(name.text, name.size))
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "'%.*s' is no tensor's name; that is " TENSOR_NAME_RULE, printed_size(name),
                     name.text);
}

/* The first row with this path and method; else match->allowed says which methods the path has. */
static const struct route *find_row(struct route_match *match, unsigned wanted, const char *url)
{
    unsigned allowed = 0;
    for (int i = 0; i < route_count(); i++) {
        const struct route *route = route_at(i);
        struct route_match found = {0};
        if (!matches(&found, route->pattern, url))
            continue;
        if (allowed == 0 || route->method & wanted)
            *match = found;
        if (route->method & wanted)
            return route;
        allowed |= route->method;
    }
    match->allowed = allowed;
    return NULL;
}

enum error_code route_find(struct route_match *match, const char *method, const char *url,
                           struct error *error)
{
    enum method asked = method_parse(method);
    char allow[METHODS_TEXT_MAX];
    *match = (struct route_match){0};
    match->route = find_row(match, asked == METHOD_HEAD ? METHOD_GET : asked, url);
    if (!match->route && !match->allowed) {
        char hint[ROUTE_HINT_MAX];
        return error_set(error, ERROR_NOT_FOUND, NULL, "there is nothing at %.200s; %s", url,
                         route_hint(url, hint));
    }
    enum error_code code = find_model(match, error);
    if (code == ERROR_NONE)
        code = check_tensor(match, error);
    if (code != ERROR_NONE || match->route)
        return code;
    match->allowed |= METHOD_OPTIONS | (match->allowed & METHOD_GET ? METHOD_HEAD : 0);
    if (asked == METHOD_OPTIONS)
        return ERROR_NONE;
    methods_print(match->allowed, allow);
    return error_set(error, ERROR_METHOD_NOT_ALLOWED, NULL, "the method is %.20s, %.200s takes %s",
                     method, url, allow);
}

bool route_exists(const char *url)
{
    struct route_match match = {0};
    return find_row(&match, ~0u, url) != NULL;
}

void route_tensor(const struct route_match *match, char *name)
{
    struct segment segment = match->segments[SEGMENT_TENSOR];
    memcpy(name, segment.text, segment.size);
    name[segment.size] = '\0';
}
