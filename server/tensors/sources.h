/* sources: how far the server has come with each source of updates, over all tensors. Whoever sends
 * a source's updates in their order, one at a time, asks here where to go on. A position of a
 * tensor (position.h) decides what is applied; this is a hint, never ahead of any tensor: a source
 * that is forgotten begins anew, and each tensor replays what it has. It ends with the process, but
 * where there are files (checkpoint.h). */
#ifndef SERVER_TENSORS_SOURCES_H
#define SERVER_TENSORS_SOURCES_H

#include "server/tensors/position.h"

enum { SOURCES_MAX = 64, SOURCE_TOKEN_MAX = 64 };

struct source {
    char token[SOURCE_TOKEN_MAX + 1]; /* whose: nobody moves the sources of another */
    struct position position;
};

/* The one that was moved last stands first. */
struct sources {
    struct source list[SOURCES_MAX];
    int count;
};

/* The source of `token` ("": without one) has come to `position` at least. The one that was moved
 * least recently makes room. */
void sources_advance(struct sources *sources, const char *token, const struct position *position);

/* Copies those of `token` to `list` of SOURCES_MAX and returns their number. */
int sources_of(const struct sources *sources, const char *token, struct position *list);

#endif
