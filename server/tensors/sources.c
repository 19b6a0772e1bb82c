#include "server/tensors/sources.h"

#include <stdio.h>
#include <string.h>

/* The index of the source; where it is not there, of the place for a new one. */
static int find(const struct sources *sources, const char *token, const char *source)
{
    int i = 0;
    while (i < sources->count && (strcmp(sources->list[i].token, token) != 0 ||
                                  strcmp(sources->list[i].position.source, source) != 0))
        i++;
    return i;
}

void sources_advance(struct sources *sources, const char *token, const struct position *position)
{
    struct source moved = {.position = *position};
    int at = find(sources, token, position->source);
    snprintf(moved.token, sizeof moved.token, "%s", token);
    if (at < sources->count) {
        const struct position *last = &sources->list[at].position;
        if (position_is_above(last, position))
            moved.position = *last;
    } else if (sources->count < SOURCES_MAX) {
        sources->count++;
    } else {
        at = SOURCES_MAX - 1;
    }
    memmove(sources->list + 1, sources->list, (size_t)at * sizeof *sources->list);
    sources->list[0] = moved;
}

int sources_of(const struct sources *sources, const char *token, struct position *list)
{
    int count = 0;
    for (int i = 0; i < sources->count; i++)
        if (strcmp(sources->list[i].token, token) == 0)
            list[count++] = sources->list[i].position;
    return count;
}
