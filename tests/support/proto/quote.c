#include "tests/support/proto/quote.h"

#include <stdlib.h>
#include <string.h>

char *quote(const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL)
        abort();
    for (char *c = copy; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}
