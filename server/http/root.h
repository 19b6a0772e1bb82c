/* root: what stands at `/`: the console page for browsers, the way to the API for everybody else.
 */
#ifndef SERVER_HTTP_ROOT_H
#define SERVER_HTTP_ROOT_H

#include "server/http/route.h"

/* The page for who names text/html in Accept, unless JSON weighs more; else a small JSON (curl
 * sends no more than a wildcard). Without the setting `console`, NOT_FOUND. */
enum error_code root_answer(struct call *call, struct error *error);

#endif
