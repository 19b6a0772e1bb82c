#include "server/http/parts.h"

#include "proto/answer/problem.h"
#include "proto/text.h"
#include "server/access/cors.h"
#include "server/base/clock.h"
#include "server/base/exhausted.h"

#include <microhttpd.h>
#include <string.h>

enum { VALUE_MAX = 128, RETRY_AFTER_SECONDS = 1 };

static void add(struct MHD_Response *response, const char *name, const char *value)
{
    /* Fails only without memory; an answer that lacks a header is better than none. */
    if (MHD_add_response_header(response, name, value) != MHD_YES)
        return;
}

static void add_number(struct MHD_Response *response, const char *name, int64_t number)
{
    char value[VALUE_MAX];
    struct text text;
    text_init(&text, value, sizeof value);
    text_int(&text, number);
    add(response, name, value);
}

static void put_milliseconds(struct text *text, uint64_t ns)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = ns / 1000;
    for (int i = 0; i < 4 || rest > 0; i++, rest /= 10) {
        if (i == 3)
            digits[--at] = '.';
        digits[--at] = (char)('0' + rest % 10);
    }
    text_put(text, digits + at, sizeof digits - at);
}

static void add_timing(struct MHD_Response *response, const struct job_times *times)
{
    char value[VALUE_MAX];
    struct text text;
    text_init(&text, value, sizeof value);
    text_puts(&text, "parse;dur=");
    put_milliseconds(&text, times->parse_ns);
    text_puts(&text, ", queue;dur=");
    put_milliseconds(&text, times->queue_ns);
    text_puts(&text, ", compute;dur=");
    put_milliseconds(&text, times->compute_ns + times->encode_ns);
    add(response, "Server-Timing", value);
}

/* Whether the connection ends with this answer: the server leaves, or its load is to spread
 * anew. */
static bool is_last(const struct exchange *x)
{
    const struct config *config = &x->server->config;
    const struct peer *peer = x->peer;
    uint64_t age = config->connection_max_age, requests = config->connection_max_requests;
    return x->server->phase >= PHASE_LEAVING || (requests && peer->requests >= requests) ||
           (age && x->answer_ns - peer->started_ns >= age);
}

/* Adds the headers that let a page of another origin read the answer and send its next request. */
static void add_cors(struct MHD_Response *response, const struct exchange *x)
{
    const char *origins = x->server->config.cors_origins;
    const char *allowed = cors_allow(origins, x->headers.value[HEADER_ORIGIN]);
    if (cors_varies(origins))
        add(response, MHD_HTTP_HEADER_VARY, "Origin");
    if (!allowed)
        return;
    add(response, "Access-Control-Allow-Origin", allowed);
    add(response, "Access-Control-Expose-Headers", CORS_EXPOSED);
    if (x->method != METHOD_OPTIONS)
        return;
    char methods[METHODS_TEXT_MAX];
    methods_print(x->reply.allow, methods);
    add(response, "Access-Control-Allow-Methods", methods);
    add(response, "Access-Control-Allow-Headers", CORS_ALLOWED);
    add_number(response, "Access-Control-Max-Age", CORS_MAX_AGE_SECONDS);
}

/* Adds the headers of an answer about a resident, which changes with the next write, and depends on
 * the client and on the encoding. */
static void add_resident_headers(struct MHD_Response *response, const struct exchange *x)
{
    const struct route *route = x->match.route;
    if (*x->reply.etag)
        add(response, MHD_HTTP_HEADER_ETAG, x->reply.etag);
    if (x->job.holds.is_replayed && x->reply.error == ERROR_NONE)
        add(response, "Idempotent-Replayed", "true");
    if (!route || (route->kind != ROUTE_TENSOR && route->kind != ROUTE_LOOK))
        return;
    add(response, MHD_HTTP_HEADER_CACHE_CONTROL, "private, no-cache");
    add(response, MHD_HTTP_HEADER_VARY, "Accept, Authorization");
}

static void add_headers(struct MHD_Response *response, const struct exchange *x)
{
    const struct reply *reply = &x->reply;
    if (reply->content_type)
        add(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->content_type);
    add(response, "X-Request-Id", x->request_id);
    if (reply->header_length >= 0)
        add_number(response, "Inference-Header-Content-Length", reply->header_length);
    if (reply->error != ERROR_NONE)
        add(response, "Error-Code", error_name(reply->error));
    if (reply->error == ERROR_UNSUPPORTED_ENCODING)
        add(response, MHD_HTTP_HEADER_ACCEPT_ENCODING, "gzip, deflate");
    if (reply->error == ERROR_UNAUTHENTICATED)
        add(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (reply->retry_after > 0)
        add_number(response, MHD_HTTP_HEADER_RETRY_AFTER, reply->retry_after);
    if (reply->allow) {
        char allow[METHODS_TEXT_MAX];
        methods_print(reply->allow, allow);
        add(response, MHD_HTTP_HEADER_ALLOW, allow);
    }
    for (const struct reply_header *h = reply->headers; h && h->name; h++)
        add(response, h->name, h->value);
    add_resident_headers(response, x);
    if (*x->server->config.cors_origins)
        add_cors(response, x);
    if (x->job.times.received_ns > 0)
        add_timing(response, &x->job.times);
    if (is_last(x))
        add(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

static bool wants_problem_document(const struct exchange *x)
{
    struct head head;
    struct error ignored;
    return head_parse(&head, NULL, NULL, NULL, x->headers.value[HEADER_ACCEPT], &ignored) ==
               ERROR_NONE &&
           head.problem_json;
}

static void fill_from_error(struct exchange *x, char *text)
{
    const struct error *error = &x->job.error;
    bool document = wants_problem_document(x);
    x->reply = (struct reply){
        .status = problem_status(error->code),
        .content_type = document ? "application/problem+json" : "application/json",
        .data = text,
        .size = problem_print(text, error, document, x->request_id),
        .header_length = -1,
        .error = error->code,
        .allow = error->code == ERROR_METHOD_NOT_ALLOWED ? x->match.allowed : 0,
        .retry_after = x->grant.retry_after         ? x->grant.retry_after
                       : problem_retry(error->code) ? RETRY_AFTER_SECONDS
                                                    : 0,
    };
    if (error->code == ERROR_PRECONDITION_FAILED)
        memcpy(x->reply.etag, x->job.holds.etag, sizeof x->reply.etag);
}

static void fill_from_job(struct exchange *x)
{
    const struct response *response = &x->job.response;
    x->reply.content_type = response->content_type;
    x->reply.data = response->data;
    x->reply.size = response->size;
    x->reply.header_length = response->header_length;
    x->reply.status = x->job.status;
    memcpy(x->reply.etag, x->job.holds.etag, sizeof x->reply.etag);
}

static void release(void *exchange)
{
    exchange_release(exchange);
}

static ssize_t no_bytes(void *context, uint64_t at, char *buffer, size_t size)
{
    (void)context;
    (void)at;
    (void)buffer;
    (void)size;
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

/* 304 has no body; libmicrohttpd says a length all the same, and only that of the answer with a
 * body may be said (RFC 9110, 8.6). */
static struct MHD_Response *not_modified(struct exchange *x)
{
    uint64_t size = x->reply.size;
    x->reply.size = 0;
    return MHD_create_response_from_callback(size, 1024, no_bytes, NULL, NULL);
}

/* The bytes are the exchange's and live until libmicrohttpd is done with them. */
static struct MHD_Response *wrap(struct exchange *x)
{
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        x->reply.size, (void *)(uintptr_t)x->reply.data, release, x);
    if (response)
        x->references++;
    return response;
}

static bool queue(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response)
{
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result == MHD_YES;
}

bool http_reply(struct exchange *x)
{
    char text[PROBLEM_TEXT_MAX];
    struct MHD_Response *response;
    x->answer_ns = clock_ns();
    http_peer_enter(x->peer, PEER_SENDING, x->answer_ns);
    if (x->job.error.code != ERROR_NONE) {
        fill_from_error(x, text);
        response = MHD_create_response_from_buffer(x->reply.size, text, MHD_RESPMEM_MUST_COPY);
    } else {
        if (x->job.planned)
            fill_from_job(x);
        response = x->reply.status == MHD_HTTP_NOT_MODIFIED ? not_modified(x) : wrap(x);
    }
    if (!response)
        return false;
    add_headers(response, x);
    return queue(x->connection, (unsigned)x->reply.status, response);
}

bool http_reply_exhausted(struct MHD_Connection *connection)
{
    char text[PROBLEM_TEXT_MAX];
    struct error error;
    error_no_memory(&error);
    size_t size = problem_print(text, &error, false, NULL);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return false;
    add(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    add(response, "Error-Code", error_name(error.code));
    add_number(response, MHD_HTTP_HEADER_RETRY_AFTER, RETRY_AFTER_SECONDS);
    return queue(connection, (unsigned)problem_status(error.code), response);
}
