/* openapi_components: what the paths of /openapi.json refer to: parameters, schemas, answers, and
 * how a client says who it is. Private to openapi.c. */
#ifndef SERVER_HTTP_OPENAPI_COMPONENTS_H
#define SERVER_HTTP_OPENAPI_COMPONENTS_H

#include "proto/text.h"

#include <stdbool.h>

/* The member `components`. `tokens`: there is a scheme `bearer`. */
void openapi_components(struct text *t, bool tokens);

#endif
