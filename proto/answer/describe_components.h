/* describe_components: what the paths of /openapi.json refer to: parameters, schemas, answers, and
 * how a client says who it is. Private to describe_openapi.c. */
#ifndef PROTO_ANSWER_DESCRIBE_COMPONENTS_H
#define PROTO_ANSWER_DESCRIBE_COMPONENTS_H

#include "proto/text.h"

#include <stdbool.h>

/* The member `components`. `tokens`: there is a scheme `bearer`. */
void describe_components(struct text *t, bool tokens);

#endif
