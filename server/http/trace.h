/* trace: W3C Trace Context, as far as a log needs it: https://www.w3.org/TR/trace-context/ */
#ifndef SERVER_HTTP_TRACE_H
#define SERVER_HTTP_TRACE_H

#include "server/http/request_id.h"

enum { TRACE_ID_MAX = 33, SPAN_ID_MAX = 17 };

/* All empty when the request had no traceparent. */
struct trace {
    char trace_id[TRACE_ID_MAX];
    char span_id[SPAN_ID_MAX]; /* ours, for this request */
    char parent_id[SPAN_ID_MAX];
};

/* What `traceparent` (NULL: absent) says; a malformed one starts a new trace without a parent. */
void trace_read(struct trace *trace, const char *traceparent, struct request_ids *ids);

#endif
