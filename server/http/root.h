/* root: the answer at `/`: the console page for browsers, links into the API for everybody else. */
#ifndef SERVER_HTTP_ROOT_H
#define SERVER_HTTP_ROOT_H

#include "server/http/route.h"

/* Answers the page to a client that names text/html in Accept, unless JSON weighs more there, and a
 * small JSON to others (curl names only a wildcard). Without the setting `console`, NOT_FOUND. */
route_answer root_answer;

#endif
