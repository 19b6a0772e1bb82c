/* base_path: the path that the whole API lies below, for a server that shares its address. */
#ifndef SERVER_NET_BASE_PATH_H
#define SERVER_NET_BASE_PATH_H

#include "kernels/error.h"

/* `base` is "" or a path such as /tensord. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code base_path_check(const char *base, struct error *error);

/* The part of a request's target below `base`; NULL when it is not below. A target may be an
 * absolute URL (RFC 9112, 3.2.2), of any host. */
const char *base_path_below(const char *base, const char *url);

#endif
