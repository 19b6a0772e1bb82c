#include "server/base/list.h"

#include <string.h>

const char *list_next(const char *at, size_t *size)
{
    static const char separators[] = ", ";
    const char *word = at + strspn(at, separators);
    *size = strcspn(word, separators);
    return *size > 0 ? word : NULL;
}
