#include "server/http/method.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum method method;
} methods[] = {
#define X(NAME, BIT) {#NAME, METHOD_##NAME},
    METHOD_TABLE(X)
#undef X
};

enum { METHODS = sizeof methods / sizeof *methods };

enum method method_parse(const char *name)
{
    for (int i = 0; i < METHODS; i++)
        if (strcmp(methods[i].name, name) == 0)
            return methods[i].method;
    return 0;
}

const char *method_name(enum method method)
{
    for (int i = 0; i < METHODS; i++)
        if (methods[i].method == method)
            return methods[i].name;
    return "other";
}

void methods_print(unsigned set, char *text)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < METHODS; i++)
        if (set & methods[i].method)
            used += (size_t)sprintf(text + used, "%s%s", used ? ", " : "", methods[i].name);
}
