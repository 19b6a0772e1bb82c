/* health: the question of `tensord --health`, so that a container's health check needs no other
 * program. */
#ifndef SERVER_NET_HEALTH_H
#define SERVER_NET_HEALTH_H

#include "kernels/error.h"

/* Asks the server that listens on the first of `addresses` (as the setting `listen`) for
 * /v2/health/ready below `base_path`. Each call on the socket waits 2 seconds at most. ERROR_NONE:
 * the server is ready. Errors: INVALID_PARAMETER (nobody listens), DRAINING (the server is not
 * ready, or does not answer). */
MUST_CHECK enum error_code health_ask(const char *addresses, const char *base_path,
                                      struct error *error);

#endif
