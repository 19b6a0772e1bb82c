/* standing: where a server stands, read from its answer to GET /v2/tensors. */
#ifndef SERVER_FOLLOW_STANDING_H
#define SERVER_FOLLOW_STANDING_H

#include "server/follow/entry.h"

/* The position of `source` in {"positions":{"log":"17-0"},...}; 0-0: the server has none of it.
 * False: the answer is no JSON, has no positions, or one that is no id. */
bool standing_read(struct entry_id *stands, const char *answer, const char *source);

#endif
