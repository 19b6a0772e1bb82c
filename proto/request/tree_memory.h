/* tree_memory: cJSON's nodes and strings, cut one after the other from a request's memory and freed
 * with it: no malloc and no free for each of them. Private to envelope.c. */
#ifndef PROTO_REQUEST_TREE_MEMORY_H
#define PROTO_REQUEST_TREE_MEMORY_H

#include "proto/work.h"

/* Between the two, what this thread's calls of cJSON take is cut from `memory`, and what they free
 * stays there. Outside, cJSON uses malloc and free. */
void tree_memory_begin(struct memory *memory);
void tree_memory_end(void);

#endif
