/* root: what stands at `/`: the console page for browsers, the ways into the API for everybody
 * else. */
#ifndef SERVER_HTTP_ROOT_H
#define SERVER_HTTP_ROOT_H

#include "server/http/route.h"

/* The page for who names text/html in Accept, unless JSON weighs more; else a small JSON (curl
 * names only a wildcard). Without the setting `console`, NOT_FOUND. */
route_answer root_answer;

#endif
