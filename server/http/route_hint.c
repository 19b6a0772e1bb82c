#include "server/http/route_hint.h"

#include "kernels/nearest.h"
#include "kernels/op.h"
#include "server/http/route.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH_MAX_BYTES = 160, NAME_MAX_BYTES = 64, PART_MIN_BYTES = 5 };

/* Copies a path with single slashes and none at its end; false when it is too long. */
static bool tidy(const char *path, bool fold, char *to)
{
    size_t size = 0;
    for (; *path && size < PATH_MAX_BYTES - 1; path++)
        if (*path != '/' || size == 0 || to[size - 1] != '/')
            to[size++] = fold ? (char)tolower((unsigned char)*path) : *path;
    if (size > 1 && to[size - 1] == '/')
        size--;
    to[size] = '\0';
    return *path == '\0';
}

/* Whether the path has a route once its slashes are tidy, or its case folded as well; then writes
 * it into `meant`. */
static bool is_untidy(const char *path, char *meant)
{
    for (int fold = 0; fold < 2; fold++)
        if (tidy(path, fold, meant) && route_exists(meant))
            return true;
    return false;
}

static const char *nearest_path(const char *path)
{
    struct nearest nearest = nearest_to(path, strlen(path));
    for (int i = 0; i < route_count(); i++)
        nearest_offer(&nearest, route_at(i)->pattern);
    return nearest.found;
}

/* The operation that another protocol's path names: /v1/models/NAME:predict. */
static bool names_operation(const char *path, struct op_name *op)
{
    const char *name = strstr(path, "/models/");
    if (!name)
        return false;
    name += strlen("/models/");
    return op_find(name, strcspn(name, "/:"), op);
}

const char *route_hint(const char *path, char *hint)
{
    char meant[PATH_MAX_BYTES];
    struct op_name op;
    if (is_untidy(path, meant))
        snprintf(hint, ROUTE_HINT_MAX, "did you mean %s?", meant);
    else if (nearest_path(path))
        snprintf(hint, ROUTE_HINT_MAX, "did you mean %s?", nearest_path(path));
    else
        snprintf(hint, ROUTE_HINT_MAX,
                 "POST /v2/models/%s/infer runs an operation, GET /v2/models lists "
                 "them, GET /openapi.json describes the rest",
                 names_operation(path, &op) ? op.name : "{operation}");
    return hint;
}

/* The letters and digits of a name, in lower case. */
static void letters(const char *name, size_t size, char *to)
{
    size_t count = 0;
    for (size_t i = 0; i < size && count < NAME_MAX_BYTES - 1; i++)
        if (isalnum((unsigned char)name[i]))
            to[count++] = (char)tolower((unsigned char)name[i]);
    to[count] = '\0';
}

static const char *holding(const char *name, size_t size)
{
    char asked[NAME_MAX_BYTES], known[NAME_MAX_BYTES];
    letters(name, size, asked);
    for (int i = 0; strlen(asked) >= PART_MIN_BYTES && i < op_count(); i++)
        for (const struct op_alias *alias = op_at(i)->names; alias->text; alias++) {
            letters(alias->text, (size_t)alias->size, known);
            if (strstr(known, asked) || strstr(asked, known))
                return alias->text;
        }
    return NULL;
}

const char *route_hint_operation(const char *name, size_t size)
{
    struct nearest nearest = nearest_to(name, size);
    for (int i = 0; i < op_count(); i++)
        for (const struct op_alias *alias = op_at(i)->names; alias->text; alias++)
            nearest_offer(&nearest, alias->text);
    const char *part = holding(name, size);
    return part && nearest.edits > 1 ? part : nearest.found;
}
