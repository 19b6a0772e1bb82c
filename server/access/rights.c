#include "server/access/rights.h"

#include <stdlib.h>
#include <string.h>

struct rights *rights_new(void)
{
    struct rights *rights = calloc(1, sizeof *rights);
    if (rights)
        atomic_init(&rights->references, 1);
    return rights;
}

struct rights *rights_hold(struct rights *rights)
{
    if (rights)
        atomic_fetch_add_explicit(&rights->references, 1, memory_order_relaxed);
    return rights;
}

void rights_leave(struct rights *rights)
{
    if (rights && atomic_fetch_sub_explicit(&rights->references, 1, memory_order_acq_rel) == 1)
        free(rights);
}

bool rights_add(struct rights *rights, const char *text)
{
    struct right right = {.read_only = false};
    size_t size = strlen(text);
    if (size >= 3 && strcmp(text + size - 3, ":ro") == 0) {
        right.read_only = true;
        size -= 3;
    }
    if (size > 0 && text[size - 1] == '*') {
        right.is_prefix = true;
        size--;
    }
    bool is_all = right.is_prefix && size == 0;
    if (rights->count == RIGHTS_MAX || (!is_all && !tensor_name_is_legal(text, size)))
        return false;
    memcpy(right.pattern, text, size);
    rights->list[rights->count++] = right;
    return true;
}

static bool covers(const struct right *right, const char *name)
{
    return right->is_prefix ? strncmp(right->pattern, name, strlen(right->pattern)) == 0
                            : strcmp(right->pattern, name) == 0;
}

bool rights_allow(const struct rights *rights, const char *name, bool writes)
{
    if (!rights || !rights->is_restricted)
        return true;
    for (int i = 0; i < rights->count; i++)
        if (covers(&rights->list[i], name) && !(writes && rights->list[i].read_only))
            return true;
    return false;
}
