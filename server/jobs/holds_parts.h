/* holds_parts: what the files of the holds share. */
#ifndef SERVER_JOBS_HOLDS_PARTS_H
#define SERVER_JOBS_HOLDS_PARTS_H

#include "server/jobs/holds.h"

/* Claims the request's key, if it has one that is not claimed yet. `*kept` is set when a key is
 * found that is kept: what it says is replayed in the turn, and it is no claim of ours. Errors:
 * CONFLICT, IDEMPOTENCY_KEY_REUSED, RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code holds_claim(struct holds *holds, const struct key **kept,
                                       struct error *error);

#endif
