#include "server/http/parts.h"

#include "server/base/clock.h"

#include <microhttpd.h>
#include <string.h>

/* libmicrohttpd 0.9 accepts heads that must be refused (RFC 9112, 2.2, 3 and 5.2; RFC 9110, 5.5):
 * it joins folded lines to the name before them, ends lines at a bare LF and values at a NUL, and
 * takes a line that begins with a NUL for the end. It parses in place, and writes a NUL over each
 * colon and two over each CRLF. So a proper head becomes an unbroken row of method, target, version
 * and headers, from the method's first byte to the end that libmicrohttpd tells, and a gap in the
 * row shows a misread head. One case is left: a NUL right before a bare LF looks like a CRLF
 * afterwards. From 1.0 on the library refuses all of these. */
struct reading {
    struct headers *headers;
    const char *next; /* where the next line must begin; NULL: the row is broken */
    size_t lines;
};

#if MHD_VERSION < 0x01000000
static bool is_blank(const char *from, const char *to)
{
    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    return from == to;
}

static const char *behind_line(const char *next, const char *name, size_t name_size,
                               const char *value, size_t value_size)
{
    const char *end = value + value_size;
    bool is_next = name == next && is_blank(name + name_size + 1, value) && !end[0] && !end[1];
    return is_next ? end + 2 : NULL;
}

/* The two NULs of an empty line are the last bytes of a head. */
static bool is_whole(const char *method, size_t size, const char *next)
{
    return next && next + 2 == method + size && !next[0] && !next[1];
}

static const char *behind_request_line(const struct peer *peer, const struct request_line *line)
{
    const char *target = line->method + strlen(line->method) + 1;
    const char *version = peer->target + peer->target_size + 1;
    const char *end = line->version + strlen(line->version);
    return target == peer->target && version == line->version && !end[1] ? end + 2 : NULL;
}
#else
#define behind_line(next, name, name_size, value, value_size) (next)
#define is_whole(connection, method, next)                    true
#define behind_request_line(peer, line)                       ((line)->version)
#endif

static enum MHD_Result collect(void *context, enum MHD_ValueKind kind, const char *name,
                               size_t name_size, const char *value, size_t value_size)
{
    struct reading *reading = context;
    (void)kind;
    if (!value)
        value = "";
    reading->next = behind_line(reading->next, name, name_size, value, value_size);
    reading->lines++;
    headers_add(reading->headers, name, name_size, value, value_size);
    return MHD_YES;
}

/* Whether libmicrohttpd has enough left of the connection's pool for an answer. It takes the head's
 * bytes, a record for each header and each cookie, and the cookies' bytes once more. */
static bool has_room(struct MHD_Connection *connection, size_t head_size, size_t lines)
{
    enum { RECORD = 64, SHORTEST_COOKIE = 2, ROOM = HTTP_POOL_BYTES - HTTP_POOL_KEPT };
    if (head_size + head_size + (lines + head_size / SHORTEST_COOKIE) * RECORD <= ROOM)
        return true;
    const char *cookie = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Cookie");
    size_t cookies =
        cookie ? (size_t)MHD_get_connection_values(connection, MHD_COOKIE_KIND, NULL, NULL) : 0;
    return head_size + (cookie ? strlen(cookie) + 1 : 0) + (lines + cookies) * RECORD <= ROOM;
}

bool http_head_read(struct exchange *x, const struct request_line *line)
{
    struct peer *peer = x->peer;
    struct reading reading = {.headers = &x->headers, .next = behind_request_line(peer, line)};
    peer->head_of = NULL;
    x->headers.memory = &x->job.arena.memory;
    MHD_get_connection_values_n(x->connection, MHD_HEADER_KIND, collect, &reading);
    size_t size = MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)
                      ->header_size;
    if (!is_whole(line->method, size, reading.next))
        x->headers.fault = "a line of the head is folded, ends in a bare LF or holds a NUL";
    return has_room(x->connection, size, reading.lines);
}

/* Cuts the query off, so that it is read here and not by libmicrohttpd. 0.9 takes a record of its
 * pool for each argument, and when the pool is used up the connection hangs (RFC 9112, 3: an answer
 * is due); and it decodes escapes in names, which balancers must see as they are. A NUL over the
 * query's first byte ends the target for the library; peer->query_byte keeps that byte. */
static void take_query(struct peer *peer, const char *target)
{
    char *query = strchr(target, '?');
    size_t path = query ? (size_t)(query - target) : peer->target_size;
    peer->path_is_escaped = memchr(target, '%', path) != NULL;
    peer->query = query ? query + 1 : NULL;
    if (!query || !query[1])
        return;
    peer->query_size = strlen(query + 1);
    peer->query_byte = query[1];
    query[1] = '\0';
}

void http_head_begin(struct MHD_Connection *connection, const char *target)
{
    struct peer *peer = http_peer_of(connection);
    if (!peer || !target)
        return;
    peer->target = target;
    peer->target_size = strlen(target);
    peer->head_of = connection;
    peer->query_size = 0;
    if (peer->phase == PEER_IDLE)
        atomic_store_explicit(&peer->phase, PEER_HEAD, memory_order_relaxed);
    take_query(peer, target);
}

bool http_head_explain(struct MHD_Connection *connection, struct error *error)
{
    static const struct request_line any = {"GET", "/", "HTTP/1.1"};
    struct headers headers = {.memory = NULL};
    struct reading reading = {.headers = &headers};
    struct framing framing;
    bool is_sound;
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, collect, &reading);
    if (headers_check(&headers, &any, &framing, &is_sound, error) != ERROR_NONE)
        return false;
    http_head_too_large(error);
    return true;
}

void http_head_too_large(struct error *error)
{
    error_set(
        error, ERROR_INVALID_HEADER, NULL,
        "the head of the request is too large: shorten it, or send fewer headers and cookies");
}
