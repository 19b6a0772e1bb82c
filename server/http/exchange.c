#include "server/http/parts.h"

#include "server/base/clock.h"
#include "server/net/base_path.h"

#include <microhttpd.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

enum {
    SWALLOWED_MAX = 1 << 20,  /* a refused body up to this is read, so that the connection lives */
    DISCARDED_MAX = 16 << 20, /* of a body that turned out too large while it came */
    HOME_BYTES = 31 * 1024,   /* memory of a request before it asks for more */
    HOME_BYTES_BODYLESS = 15 * 1024
};

static struct exchange *exchange_new(struct http_daemon *daemon, struct MHD_Connection *connection,
                                     const char *method)
{
    struct server *server = daemon->http->server;
    struct peer *peer = http_peer_of(connection);
    enum method kind = method_parse(method);
    struct block *home =
        peer ? blocks_get(&server->blocks,
                          kind & (METHOD_POST | METHOD_PUT) ? HOME_BYTES : HOME_BYTES_BODYLESS)
             : NULL;
    if (!home)
        return NULL;
    struct exchange *x = (struct exchange *)home->bytes;
    home->used = (sizeof *x + TENSOR_ALIGNMENT - 1) & ~(size_t)(TENSOR_ALIGNMENT - 1);
    memset(x, 0, offsetof(struct exchange, job));
    job_init(&x->job, &server->blocks, &server->budget, home);
    x->server = server;
    x->daemon = daemon;
    x->connection = connection;
    x->peer = peer;
    x->method = kind;
    x->references = 1;
    x->begin_ns = clock_ns();
    x->reply = (struct reply){
        .status = MHD_HTTP_OK, .content_type = "application/json", .header_length = -1};
    peer->requests++;
    atomic_store_explicit(&peer->received, 0, memory_order_relaxed);
    http_peer_enter(peer, PEER_READING, x->begin_ns);
    atomic_fetch_add_explicit(&daemon->http->requests, 1, memory_order_relaxed);
    return x;
}

void exchange_release(struct exchange *x)
{
    if (--x->references > 0)
        return;
    struct server *server = x->server;
    struct http *http = x->daemon->http;
    arena_release(&x->job.arena);
    access_leave(&server->access, &x->grant, x->body.size + x->discarded + x->reply.size);
    blocks_put(&server->blocks, x->job.arena.chain);
    atomic_fetch_sub_explicit(&http->requests, 1, memory_order_release);
}

static bool has_job(const struct route *route)
{
    return route->kind == ROUTE_INFER || route->kind == ROUTE_TENSOR;
}

/* A target may name scheme and authority, too (RFC 9112, 3.2.2). */
static const char *path_of(const char *target)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (int i = 0; i < 2; i++)
        if (strncasecmp(target, schemes[i], strlen(schemes[i])) == 0) {
            const char *path = strchr(target + strlen(schemes[i]), '/');
            return path ? path : "/";
        }
    return target;
}

static enum error_code find_route(struct exchange *x, const char *target, const char *method)
{
    const char *url = path_of(target);
    if (x->method == METHOD_OPTIONS &&
        strcmp(url, "*") == 0) { /* * is the server itself (RFC 9110, 9.3.7) */
        x->match.allowed = METHOD_GET | METHOD_HEAD | METHOD_POST | METHOD_OPTIONS;
        return ERROR_NONE;
    }
    const char *below = base_path_below(x->server->config.base_path, url);
    if (below)
        return route_find(&x->match, method, below, &x->job.error);
    return error_set(&x->job.error, ERROR_NOT_FOUND, NULL, "there is nothing at %.200s", url);
}

/* A visitor who may not ask is told so before any 404: strangers do not learn which paths there
 * are. A preflight carries no credentials. */
static enum error_code find_permitted(struct exchange *x, const char *url, const char *method)
{
    enum error_code found = find_route(x, url, method);
    if (x->method == METHOD_OPTIONS)
        return found;
    enum error_code code = http_visitor_admit(x);
    return code != ERROR_NONE ? code : found;
}

/* Everything that headers decide. */
static enum error_code decide(struct exchange *x, const struct request_line *line)
{
    struct error *error = &x->job.error;
    bool is_sound;
    enum error_code code = headers_check(&x->headers, line, &x->framing, &is_sound, error);
    x->must_close = !is_sound;
    if (code != ERROR_NONE)
        return code;
    if (find_permitted(x, line->target, line->method) != ERROR_NONE)
        return error->code;
    if (x->method == METHOD_OPTIONS)
        return ERROR_NONE;
    bool is_look = x->match.route->kind == ROUTE_LOOK;
    if (x->server->phase == PHASE_STARTING && (is_look || has_job(x->match.route)))
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                         "the server starts: it loads the tensors of tensor_dir; try again");
    if (is_look) {
        http_look_open(x);
        return http_query_read(x);
    }
    if (!has_job(x->match.route))
        return ERROR_NONE;
    if (x->server->phase >= PHASE_DRAINING)
        return job_draining(error);
    return http_job_open(x);
}

/* A refused request is answered in the final call, which keeps the connection, or at once when the
 * rest of the body is too long to wait for. */
static bool answer_early(struct exchange *x)
{
    if (!x->must_close && !x->framing.expects_continue && x->framing.length >= 0 &&
        x->framing.length <= SWALLOWED_MAX)
        return true;
    x->peer->lingers = true;
    return http_reply(x);
}

/* Sends 100 Continue where libmicrohttpd does not: it knows only a header of exactly that value, in
 * one line. */
static void say_continue(struct exchange *x)
{
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const char *seen = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Expect");
    bool is_said = !seen || strcasecmp(seen, "100-continue") == 0;
    if (!is_said && x->framing.length != 0)
        http_peer_say(x->peer, interim, sizeof interim - 1);
}

/* Answers a head that leaves libmicrohttpd no memory for an answer of its own. */
static bool refuse_head(struct exchange *x)
{
    http_head_too_large(&x->job.error);
    x->reply.status = MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
    http_last_word(x->peer, x->reply.status, &x->job.error);
    return false;
}

static bool begin(struct http_daemon *daemon, struct MHD_Connection *connection,
                  const struct request_line *line, void **context)
{
    struct exchange *x = exchange_new(daemon, connection, line->method);
    if (!x)
        return http_reply_exhausted(connection);
    *context = x;
    if (!http_head_read(x, line))
        return refuse_head(x);
    request_id_choose(&daemon->ids, x->headers.value[HEADER_REQUEST_ID], x->request_id);
    trace_read(&x->trace, x->headers.value[HEADER_TRACEPARENT], &daemon->ids);
    http_visitor_look(x);
    if (decide(x, line) != ERROR_NONE)
        return answer_early(x);
    if (x->framing.expects_continue)
        say_continue(x);
    return true;
}

static bool receive(struct exchange *x, const char *bytes, size_t size)
{
    atomic_fetch_add_explicit(&x->peer->received, size, memory_order_relaxed);
    bool is_wanted = x->match.route && has_job(x->match.route);
    if (is_wanted && x->job.error.code == ERROR_NONE &&
        body_append(&x->body, bytes, size, &x->job.error) == ERROR_NONE)
        return true;
    x->discarded += size;
    return x->discarded <= DISCARDED_MAX;
}

static void answer_options(struct exchange *x)
{
    x->reply.status = MHD_HTTP_NO_CONTENT;
    x->reply.content_type = NULL;
    x->reply.allow = x->match.allowed;
}

static void answer_info(struct exchange *x)
{
    const char *token = grant_token(&x->grant);
    x->job.planned = false; /* a look's job has no answer of its own */
    struct call call = {.server = x->server,
                        .match = &x->match,
                        .headers = &x->headers,
                        .query = &x->query,
                        .rights = x->grant.bearer.rights,
                        .token = token ? token : "",
                        .forbids_use = http_forbids_use(x),
                        .arena = &x->job.arena,
                        .reply = &x->reply,
                        .error = &x->job.error};
    route_call(&call);
}

/* What is known of a tensor is told once a job has seen to it that all of it is. */
static bool answer_look(struct exchange *x)
{
    if (!http_infer(x))
        return false;
    if (x->job.error.code == ERROR_NONE)
        answer_info(x);
    return true;
}

/* true: the answer is there. */
static bool answer(struct exchange *x)
{
    bool is_look = x->match.route && x->match.route->kind == ROUTE_LOOK;
    if ((x->is_computed && !is_look) || x->job.error.code != ERROR_NONE)
        return true;
    if (x->method == METHOD_OPTIONS)
        answer_options(x);
    else if (has_job(x->match.route))
        return http_infer(x);
    else if (is_look && x->job.kind == JOB_TENSOR && !x->is_computed)
        return answer_look(x);
    else
        answer_info(x);
    return true;
}

bool http_request(struct http_daemon *daemon, struct MHD_Connection *connection, const char *url,
                  const char *method, const char *version, const char *upload, size_t *upload_size,
                  void **context)
{
    struct exchange *x = *context;
    if (!x)
        return begin(daemon, connection, &(struct request_line){method, url, version}, context);
    if (upload && *upload_size == 0)
        return true; /* libmicrohttpd 0.9 calls so for bytes behind a request that expects 100 and
                        has no body */
    if (*upload_size > 0) {
        size_t size = *upload_size;
        *upload_size = 0;
        return receive(x, upload, size);
    }
    http_resumed(x);
    if (!answer(x))
        return true;
    /* A client that left gets no answer: CANCELLED is for the log. */
    return x->job.error.code != ERROR_CANCELLED && http_reply(x);
}

/* The reaper has shut the receiving side; libmicrohttpd has seen it and closes after this call. */
static void end_slow_upload(struct exchange *x)
{
    const struct config *config = &x->server->config;
    struct error error;
    error_clear(&error);
    error_set(&error, ERROR_DEADLINE_EXCEEDED, NULL,
              "the body came too slowly: less than min_body_rate, %d bytes a second, over %d s",
              (int)config->min_body_rate, (int)(config->rate_grace / SEC));
    http_last_word(x->peer, MHD_HTTP_REQUEST_TIMEOUT, &error);
}

void http_completed(struct exchange *x, bool was_sent)
{
    if (x->peer->is_ended && x->answer_ns == 0)
        end_slow_upload(x);
    http_resumed(x);
    x->end_ns = clock_ns();
    http_account(x, was_sent);
    http_peer_enter(x->peer, PEER_IDLE, x->end_ns);
    exchange_release(x);
}
