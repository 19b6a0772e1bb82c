#include "server/net/base_path.h"

#include <string.h>
#include <strings.h>

enum error_code base_path_check(const char *base, struct error *error)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    size_t size = strlen(base);
    if (size == 0 || (*base == '/' && base[size - 1] != '/' && !strstr(base, "//") &&
                      strspn(base, allowed) == size))
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "base_path is %.100s, allowed are paths such as /tensord: letters, digits and "
                     "-._~, a slash in front of each part and none at the end",
                     base);
}

static const char *skip_origin(const char *url)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0) {
            const char *authority = url + strlen(schemes[i]);
            return authority + strcspn(authority, "/");
        }
    return url;
}

const char *base_path_below(const char *base, const char *url)
{
    size_t size = strlen(base);
    const char *path = skip_origin(url);
    if (strncmp(base, path, size) != 0)
        return NULL;
    if (size > 0 && path[size] == '\0')
        return "/";
    return path[size] == '/' ? path + size : NULL;
}
