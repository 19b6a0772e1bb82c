#include "server/follow/secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_visible(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return false;
    return true;
}

bool secret_read(const char *path, char *secret, char *why, size_t why_size)
{
    FILE *file = fopen(path, "re");
    if (!file || !fgets(secret, SECRET_MAX, file)) {
        snprintf(why, why_size, "cannot read %.200s: %s", path,
                 file && !ferror(file) ? "it is empty" : strerror(errno));
        if (file)
            fclose(file);
        return false;
    }
    fclose(file);
    secret[strcspn(secret, "\r\n")] = '\0';
    if (*secret && is_visible(secret))
        return true;
    snprintf(why, why_size, "%.200s: its first line is no password or token", path);
    return false;
}
