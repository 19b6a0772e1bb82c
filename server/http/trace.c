#include "server/http/trace.h"

#include <stdbool.h>
#include <string.h>

enum { VERSION = 0, TRACE = 3, PARENT = 36, FLAGS = 53, END = 55 };

static bool is_hex(const char *text, int size)
{
    return (int)strspn(text, "0123456789abcdef") >= size;
}

static bool is_zero(const char *text, int size)
{
    return (int)strspn(text, "0") >= size;
}

/* version-trace-parent-flags in lower-case hex; a version after 00 may have more behind a dash. */
static bool is_valid(const char *t)
{
    if (strnlen(t, END) < END || t[2] != '-' || t[35] != '-' || t[52] != '-')
        return false;
    if (!is_hex(t, 2) || !is_hex(t + TRACE, 32) || !is_hex(t + PARENT, 16) || !is_hex(t + FLAGS, 2))
        return false;
    if (is_zero(t + TRACE, 32) || is_zero(t + PARENT, 16) || strncmp(t, "ff", 2) == 0)
        return false;
    return t[END] == '\0' || (t[END] == '-' && strncmp(t, "00", 2) != 0);
}

static void copy(char *to, const char *from, int size)
{
    memcpy(to, from, (size_t)size);
    to[size] = '\0';
}

void trace_read(struct trace *trace, const char *traceparent, struct request_ids *ids)
{
    *trace = (struct trace){.trace_id = ""};
    if (!traceparent)
        return;
    request_ids_hex(ids, trace->span_id, SPAN_ID_MAX - 1);
    if (is_valid(traceparent)) {
        copy(trace->trace_id, traceparent + TRACE, 32);
        copy(trace->parent_id, traceparent + PARENT, 16);
    } else {
        request_ids_hex(ids, trace->trace_id, TRACE_ID_MAX - 1);
    }
}
