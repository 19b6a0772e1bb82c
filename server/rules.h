/* rules: what the settings mean for one request. */
#ifndef SERVER_RULES_H
#define SERVER_RULES_H

#include "proto/request/request.h"
#include "server/server.h"

/* The rules by the current settings: a reload changes some. */
struct request_rules server_rules(const struct server *server);

#endif
