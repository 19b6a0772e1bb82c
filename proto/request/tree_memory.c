#include "proto/request/tree_memory.h"

#include <cjson/cJSON.h>

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

enum { FIRST_BYTES = 4096, MOST_BYTES = 1 << 20 };

/* cJSON has one pair of hooks for the process and passes them no context, so whose memory it is
 * stands with the thread. */
static _Thread_local struct {
    struct memory *memory;
    char *next;
    size_t left;
    size_t piece_bytes; /* of the next piece: they grow, so that there are few */
} current;

static void *cut(size_t bytes)
{
    if (bytes > current.left) {
        size_t piece = bytes > current.piece_bytes ? bytes : current.piece_bytes;
        char *memory = current.memory->get(current.memory, piece);
        if (!memory)
            return NULL;
        current.next = memory;
        current.left = piece;
        if (current.piece_bytes < MOST_BYTES)
            current.piece_bytes *= 2;
    }
    char *start = current.next;
    current.next += bytes;
    current.left -= bytes;
    return start;
}

static void *take(size_t bytes)
{
    enum { UNIT = alignof(max_align_t) };
    if (!current.memory)
        return malloc(bytes);
    return bytes > SIZE_MAX - UNIT ? NULL : cut((bytes + UNIT - 1) / UNIT * UNIT);
}

static void leave(void *bytes)
{
    if (!current.memory)
        free(bytes);
}

/* Before main: the hooks may not change once threads use the library. */
__attribute__((constructor)) static void set_hooks(void)
{
    cJSON_Hooks hooks = {take, leave};
    cJSON_InitHooks(&hooks);
}

void tree_memory_begin(struct memory *memory)
{
    current.memory = memory;
    current.next = NULL;
    current.left = 0;
    current.piece_bytes = FIRST_BYTES;
}

void tree_memory_end(void)
{
    current.memory = NULL;
}
