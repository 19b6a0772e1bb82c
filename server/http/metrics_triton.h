/* metrics_triton: the part of GET /metrics that says the same numbers under Triton's names, for its
 * dashboards and scalers. */
#ifndef SERVER_HTTP_METRICS_TRITON_H
#define SERVER_HTTP_METRICS_TRITON_H

#include "proto/text.h"
#include "server/server.h"

void metrics_print_triton(struct text *text, struct server *server);

#endif
