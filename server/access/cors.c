#include "server/access/cors.h"

#include "server/base/list.h"

#include <stddef.h>
#include <string.h>

static bool is_any_origin(const char *origins)
{
    return strcmp(origins, "*") == 0;
}

/* scheme://host[:port] with nothing behind, as browsers write an origin. */
static bool is_origin(const char *word, size_t size)
{
    const char *host = memmem(word, size, "://", 3);
    if (!host || host == word)
        return false;
    host += 3;
    size_t host_size = size - (size_t)(host - word);
    return host_size > 0 && !memchr(host, '/', host_size) && !memchr(host, '*', host_size);
}

enum error_code cors_check(const char *origins, struct error *error)
{
    size_t size;
    if (is_any_origin(origins))
        return ERROR_NONE;
    for (const char *word = origins; (word = list_next(word, &size)); word += size)
        if (!is_origin(word, size))
            return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                             "cors_origins: %.*s is no origin, allowed are scheme://host[:port] "
                             "with commas, or * alone",
                             (int)(size < 100 ? size : 100), word);
    return ERROR_NONE;
}

const char *cors_allow(const char *origins, const char *origin)
{
    size_t size;
    if (!origin)
        return NULL;
    if (is_any_origin(origins))
        return "*";
    for (const char *word = origins; (word = list_next(word, &size)); word += size)
        if (strlen(origin) == size && memcmp(word, origin, size) == 0)
            return origin;
    return NULL;
}

bool cors_varies(const char *origins)
{
    return *origins && !is_any_origin(origins);
}
