/* recall: requests that were read before, and what they said. A client sends the same JSON with
 * other elements and another id over and over; a text that equals one that was read, byte for byte
 * but for the lists of elements and the id, says the same: it is neither scanned nor parsed again.
 * The table is small and forgets: it is for speed alone. (Rows small-json-fresh and -turns of `make
 * bench` show what it is worth.) */
#ifndef PROTO_REQUEST_RECALL_H
#define PROTO_REQUEST_RECALL_H

/* Used by one thread at a time. NULL when there is no memory, which is no fault: a `work` without
 * one parses every envelope. */
struct recall;
struct recall *recall_new(void);
void recall_free(struct recall *recall); /* NULL is fine */

#endif
