/* metrics_print: GET /metrics, the text format 0.0.4 of Prometheus. */
#ifndef SERVER_HTTP_METRICS_PRINT_H
#define SERVER_HTTP_METRICS_PRINT_H

#include "proto/text.h"
#include "server/server.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Every series, also those that are 0 so far. */
void metrics_print(struct text *text, struct server *server);

#endif
