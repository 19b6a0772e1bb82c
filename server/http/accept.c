#include "server/http/accept.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char blanks[] = " \t";

/* "0.85" is 850; what is no weight is the full one. */
static int parse_weight(const char *text)
{
    int weight = *text == '1' ? 1000 : 0;
    if ((*text != '0' && *text != '1') || text[1] != '.')
        return *text == '0' ? 0 : 1000;
    for (int i = 2, scale = 100; scale > 0 && text[i] >= '0' && text[i] <= '9'; i++, scale /= 10)
        weight += (text[i] - '0') * scale;
    return weight < 1000 ? weight : 1000;
}

/* `parameters` begins at the first semicolon and ends with the element. */
static int find_weight(const char *parameters, const char *end)
{
    for (const char *p = parameters; p < end; p++) {
        if (*p != ';')
            continue;
        p += 1 + strspn(p + 1, blanks);
        if (strncasecmp(p, "q=", 2) == 0)
            return parse_weight(p + 2);
        p--;
    }
    return 1000;
}

int accept_weight(const char *list, const char *name)
{
    size_t size = strlen(name);
    if (!list)
        return -1;
    for (list += strspn(list, blanks); *list; list += strspn(list, ", \t")) {
        const char *end = list + strcspn(list, ",");
        if (strncasecmp(list, name, size) == 0 && strchr(",; \t", list[size]))
            return find_weight(list + size, end);
        list = end;
    }
    return -1;
}
