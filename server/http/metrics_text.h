/* metrics_text: lines of Prometheus' text format. */
#ifndef SERVER_HTTP_METRICS_TEXT_H
#define SERVER_HTTP_METRICS_TEXT_H

#include "proto/text.h"

#include <stdint.h>

/* A metric's two comment lines, and what ends a sample: " 7\n". */
void metrics_head(struct text *text, const char *name, const char *type, const char *help);
void metrics_number_line(struct text *text, uint64_t value);

#endif
