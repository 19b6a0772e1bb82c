/* metrics_print: GET /metrics, the text format 0.0.4 of Prometheus. */
#ifndef SERVER_METRICS_PRINT_H
#define SERVER_METRICS_PRINT_H

#include "proto/json_write.h"
#include "server/server.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Every series, also those that are 0 so far. */
void metrics_print(struct text *text, struct server *server);

/* The part that says the same numbers under Triton's names, for its dashboards and scalers. */
void metrics_print_triton(struct text *text, struct server *server);

/* A metric's two comment lines, and what ends a sample: " 7\n". */
void metrics_head(struct text *text, const char *name, const char *type, const char *help);
void metrics_number_line(struct text *text, uint64_t value);

#endif
