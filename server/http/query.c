#include "server/http/query.h"

#include "proto/number/digits.h"

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

enum error_code query_read(struct query *query, char *text, struct error *error)
{
    char *rest;
    for (char *pair = strtok_r(text, "&", &rest); pair; pair = strtok_r(NULL, "&", &rest)) {
        char *value = pair + strcspn(pair, "=");
        if (*value)
            *value++ = '\0';
        for (int key = 0; key < QUERY_COUNT; key++)
            if (strcmp(keys[key].name, pair) == 0 && take(query, key, value, error) != ERROR_NONE)
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
