/* condition: entity tags, and what a request says about them (RFC 9110, 13). */
#ifndef SERVER_TENSORS_CONDITION_H
#define SERVER_TENSORS_CONDITION_H

#include "kernels/error.h"

#include <stdbool.h>

/* "<generation>-<epoch>-<version>" with its quotes: the same whatever part or encoding of the
 * resident is asked for. */
enum { ETAG_MAX = 64 };

/* Header values, which live as long as the request; NULL where absent. */
struct conditions {
    const char *match, *none_match;
};

static inline bool conditions_exist(const struct conditions *c)
{
    return c->match || c->none_match;
}

/* Whether the values are lists of entity tags, or "*". Errors: INVALID_HEADER. */
MUST_CHECK enum error_code conditions_check(const struct conditions *c, struct error *error);

/* Whether the conditions hold for a resident with this tag; NULL: there is no resident. */
bool conditions_hold(const struct conditions *c, const char *etag);

#endif
