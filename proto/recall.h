/* recall: envelopes that were read before, and what they said. A client sends the same envelope
 * with other elements over and over; one that equals, byte for byte, one that was read says the
 * same and is not parsed again, nor scanned where no elements stand in it. The table is small and
 * forgets: it is for speed alone. */
#ifndef PROTO_RECALL_H
#define PROTO_RECALL_H

/* Used by one thread at a time. NULL when there is no memory, which is no fault: a `work` without
 * one parses every envelope. */
struct recall;
struct recall *recall_new(void);
void recall_free(struct recall *recall); /* NULL is fine */

#endif
