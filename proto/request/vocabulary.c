#include "proto/request/vocabulary.h"

#include "kernels/nearest.h"
#include "proto/request/parse.h"

#include <string.h>

static bool is_key(const struct vocabulary *v, const char *word)
{
    for (const char *const *key = v->keys; *key; key++)
        if (strcmp(*key, word) == 0)
            return true;
    return false;
}

/* The key of the object that a word was meant to be, NULL when it is like none. */
static const char *meant_by(const struct vocabulary *v, const char *word)
{
    for (const struct synonym *s = v->synonyms; s && s->word; s++)
        if (strcmp(s->word, word) == 0)
            return s->key;
    struct nearest nearest = nearest_to(word, strlen(word));
    for (const char *const *key = v->keys; *key; key++)
        nearest_offer(&nearest, *key);
    return nearest.found;
}

static enum error_code misplaced(const char *name, const char *where, const char *owner,
                                 struct error *error)
{
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "%s stands in %s, where it says nothing; it belongs into the parameters of %s",
                     name, where, owner);
}

static enum error_code check_key(const cJSON *object, const struct vocabulary *v, const char *where,
                                 const char *word, struct error *error)
{
    if (v->parameter && strcmp(word, v->parameter) == 0)
        return misplaced(word, where, where, error);
    if (request_has_parameter(word))
        return misplaced(word, where, "the request", error);
    const char *meant = meant_by(v, word);
    if (!meant || envelope_member(object, meant))
        return ERROR_NONE;
    return error_set(error, v->code, NULL, "%s has no member \"%.64s\"; did you mean \"%s\"?",
                     where, word, meant);
}

enum error_code request_check_keys(const cJSON *object, const struct vocabulary *v,
                                   const char *where, struct error *error)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, object)
    {
        bool judged = cJSON_IsNull(item) || is_key(v, item->string);
        enum error_code code =
            judged ? ERROR_NONE : check_key(object, v, where, item->string, error);
        if (code)
            return code;
    }
    return ERROR_NONE;
}
