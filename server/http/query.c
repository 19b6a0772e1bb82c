#include "server/http/query.h"

#include <string.h>

static const char *const names[] = {
#define X(ID, NAME) NAME,
    QUERY_TABLE(X)
#undef X
};

void query_add(struct query *query, const char *name, const char *value)
{
    for (int i = 0; i < QUERY_COUNT; i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        if (query->count[i] == 0)
            query->value[i] = value ? value : "";
        if (query->count[i] < UINT8_MAX)
            query->count[i]++;
        return;
    }
}

enum error_code query_check(const struct query *query, struct error *error)
{
    if (query->is_escaped)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "the URL writes a name with '%%'; a tensor's name needs no escapes and "
                         "must be seen as it is by balancers");
    for (int i = 0; i < QUERY_COUNT; i++)
        if (query->count[i] > 1)
            return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                             "%s stands %d times in the URL; expected once", names[i],
                             query->count[i]);
    return ERROR_NONE;
}

static const char *read_number(const char *p, int64_t *number)
{
    const char *start = p;
    *number = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, *p - '0', number))
            return NULL;
    return p > start ? p : NULL;
}

enum error_code query_rows(const char *text, int64_t *from, int64_t *to, struct error *error)
{
    const char *p = read_number(text, from);
    if (p && *p == ':')
        p = read_number(p + 1, to);
    else
        p = NULL;
    if (p && *p == '\0' && *from < *to)
        return ERROR_NONE;
    return error_set(error, ERROR_ROWS_OUT_OF_RANGE, NULL,
                     "rows is '%.60s', expected is a:b with 0 <= a < b <= the number of rows",
                     text);
}
