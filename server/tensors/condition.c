#include "server/tensors/condition.h"

#include <string.h>

/* An entity tag in a list. */
struct tag {
    const char *text; /* with its quotes */
    size_t size;
    bool is_weak;
};

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Reads the tag at `at` and the comma after it; NULL when no tag stands there. */
static const char *next_tag(const char *at, struct tag *tag)
{
    tag->is_weak = strncmp(at, "W/", 2) == 0;
    at += tag->is_weak ? 2 : 0;
    if (*at != '"')
        return NULL;
    const char *end = at + 1;
    while (*end && *end != '"' && (unsigned char)*end > ' ')
        end++;
    if (*end != '"')
        return NULL;
    *tag = (struct tag){at, (size_t)(end + 1 - at), tag->is_weak};
    at = skip_blanks(end + 1);
    if (*at == '\0')
        return at;
    return *at == ',' ? skip_blanks(at + 1) : NULL;
}

static bool is_any(const char *list)
{
    return list[0] == '*' && *skip_blanks(list + 1) == '\0';
}

static enum error_code check(const char *name, const char *list, struct error *error)
{
    struct tag tag;
    if (!list || is_any(list))
        return ERROR_NONE;
    const char *at = list;
    do
        at = next_tag(at, &tag);
    while (at && *at);
    if (at)
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_HEADER, NULL,
                     "%s is '%.80s', expected are entity tags as ETag says them, in quotes and "
                     "with commas, or *",
                     name, list);
}

enum error_code conditions_check(const struct conditions *c, struct error *error)
{
    enum error_code code = check("If-Match", c->match, error);
    return code != ERROR_NONE ? code : check("If-None-Match", c->none_match, error);
}

/* If-Match compares strongly: a weak tag never matches. */
static bool lists(const char *list, const char *etag, bool strongly)
{
    struct tag tag;
    if (!etag)
        return false;
    if (is_any(list))
        return true;
    size_t size = strlen(etag);
    for (const char *at = list; at && *at;) {
        at = next_tag(at, &tag);
        if (at && tag.size == size && memcmp(tag.text, etag, size) == 0 &&
            !(strongly && tag.is_weak))
            return true;
    }
    return false;
}

bool conditions_hold(const struct conditions *c, const char *etag)
{
    return (!c->match || lists(c->match, etag, true)) &&
           (!c->none_match || !lists(c->none_match, etag, false));
}
