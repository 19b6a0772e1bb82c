#include "server/http/query.h"

#include "kernels/nearest.h"
#include "proto/number/digits.h"
#include "proto/request/request.h"
#include "proto/text.h"

#include <string.h>

static const struct {
    const char *name;
    bool is_name;
} keys[] = {
#define X(ID, NAME, IS_NAME) {NAME, IS_NAME},
    QUERY_TABLE(X)
#undef X
};

enum error_code query_escaped(struct error *error)
{
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "the URL writes a tensor's name with an escape; it needs none, and balancers "
                     "must see it as it is");
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes escapes in place. A malformed escape and that of a NUL stay as they are. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++) {
        int high = *p == '%' ? hex(p[1]) : -1, low = high >= 0 ? hex(p[2]) : -1;
        bool is_escape = low >= 0 && high + low > 0;
        *to++ = is_escape ? (char)(16 * high + low) : *p;
        p += is_escape ? 2 : 0;
    }
    *to = '\0';
}

static enum error_code take(struct query *query, int key, char *value, struct error *error)
{
    if (query->value[key])
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "%s stands more than once in the URL", keys[key].name);
    if (keys[key].is_name && strpbrk(value, "%+"))
        return query_escaped(error);
    unescape(value);
    query->value[key] = value;
    return ERROR_NONE;
}

static enum error_code not_taken(const char *name, unsigned taken, struct error *error)
{
    char list[128];
    struct text names;
    text_init(&names, list, sizeof list);
    for (int key = 0; key < QUERY_COUNT; key++)
        if (taken >> key & 1)
            text_printf(&names, "%s%s", names.size ? ", " : "", keys[key].name);
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "%s says nothing in this URL, which takes %s", name,
                     taken ? names.data : "nothing");
}

/* Refuses an unknown name that looks like a mistyped known one. */
static enum error_code judge_unknown(const char *name, unsigned taken, struct error *error)
{
    struct nearest nearest = nearest_to(name, strlen(name));
    for (int key = 0; key < QUERY_COUNT; key++)
        if (taken >> key & 1)
            nearest_offer(&nearest, keys[key].name);
    if (nearest.found)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "the URL has no \"%.64s\"; did you mean \"%s\"?", name, nearest.found);
    const char *meant = taken & QUERY_BIT(INTO) ? request_parameter_meant(name) : NULL;
    if (!meant)
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "\"%.64s\" says nothing in the URL; %s belongs into the parameters of the "
                     "request",
                     name, meant);
}

static enum error_code read_pair(struct query *query, const char *name, char *value, unsigned taken,
                                 struct error *error)
{
    for (int key = 0; key < QUERY_COUNT; key++)
        if (strcmp(keys[key].name, name) == 0)
            return taken >> key & 1 ? take(query, key, value, error)
                                    : not_taken(name, taken, error);
    return judge_unknown(name, taken, error);
}

enum error_code query_read(struct query *query, char *text, unsigned taken, struct error *error)
{
    char *rest;
    for (char *pair = strtok_r(text, "&", &rest); pair; pair = strtok_r(NULL, "&", &rest)) {
        char *value = pair + strcspn(pair, "=");
        if (*value)
            *value++ = '\0';
        if (read_pair(query, pair, value, taken, error) != ERROR_NONE)
            return error->code;
    }
    return ERROR_NONE;
}

enum error_code query_rows(const char *text, int64_t *from, int64_t *to, struct error *error)
{
    uint64_t first, behind;
    const char *at = digits_read(text, INT64_MAX, &first);
    at = at && *at == ':' ? digits_read(at + 1, INT64_MAX, &behind) : NULL;
    if (at && *at == '\0' && first < behind) {
        *from = (int64_t)first;
        *to = (int64_t)behind;
        return ERROR_NONE;
    }
    return error_set(error, ERROR_ROWS_OUT_OF_RANGE, NULL,
                     "rows is '%.60s', expected is a:b with 0 <= a < b <= the number of rows",
                     text);
}
