#include "server/http/parts.h"

#include "proto/request/recall.h"

#include <limits.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libmicrohttpd 0.9 deadlocks at its limit of connections, so it gets one that is never reached.
 * The acceptor's own limit comes first. */
enum { CONNECTIONS_NEVER_REACHED = INT_MAX / 2 };

#if MHD_VERSION >= 0x01000000
#define STRICTNESS MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1
#else
#define STRICTNESS                                                                                 \
    MHD_OPTION_STRICT_FOR_CLIENT, -1 /* -1 means strict: libmicrohttpd 0.9.75 inverts the test */
#endif

static void panic(void *context, const char *file, unsigned line, const char *reason)
{
    (void)context;
    (void)file;
    (void)line;
    fprintf(stderr, "libmicrohttpd: %s\n", reason ? reason : "internal error");
    abort();
}

static enum MHD_Result on_request(void *daemon, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **context)
{
    return http_request(daemon, connection, url, method, version, upload, upload_size, context)
               ? MHD_YES
               : MHD_NO;
}

/* A request without a context never came to us: libmicrohttpd refused its head, or the client left
 * in the middle of it. */
static void on_completed(void *daemon, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode how)
{
    struct peer *peer = http_peer_of(connection);
    (void)daemon;
    if (*context)
        http_completed(*context, how == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    if (peer)
        peer->head_of = NULL;
    *context = NULL;
}

static void on_connection(void *daemon, struct MHD_Connection *connection, void **peer,
                          enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *peer = http_peer_open(daemon, connection);
        return;
    }
    http_peer_close(daemon, *peer);
    *peer = NULL;
}

/* libmicrohttpd would cut the URL at a NUL: %00 becomes %01, which headers_check refuses. */
static size_t on_unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    for (char *p = text; (p = strstr(p, "%00")); p += 3)
        p[2] = '1';
    return MHD_http_unescape(text);
}

static void *on_target(void *daemon, const char *target, struct MHD_Connection *connection)
{
    (void)daemon;
    http_head_begin(connection, target);
    return NULL; /* the request's context: http_request makes it */
}

static void on_log(void *daemon, const char *format, va_list arguments)
{
    http_library_says(daemon, format, arguments);
}

#define CALL(FUNCTION) ((intptr_t)(FUNCTION))

static struct MHD_Daemon *start(struct http_daemon *daemon)
{
    const struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)tls_priorities},
        {MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)(uintptr_t)tls_no_certificate},
        {MHD_OPTION_END, 0, NULL},
    };
    const intptr_t idle_seconds = (intptr_t)(daemon->http->server->config.idle_timeout / SEC);
    const struct MHD_OptionItem all[] = {
        {MHD_OPTION_EXTERNAL_LOGGER, CALL(on_log), daemon}, /* first, to hear of the others */
        {STRICTNESS, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_NEVER_REACHED, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, HTTP_POOL_BYTES, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_INCREMENT, HTTP_POOL_BYTES, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds, NULL},
        {MHD_OPTION_NOTIFY_CONNECTION, CALL(on_connection), daemon},
        {MHD_OPTION_NOTIFY_COMPLETED, CALL(on_completed), daemon},
        {MHD_OPTION_URI_LOG_CALLBACK, CALL(on_target), daemon},
        {MHD_OPTION_UNESCAPE_CALLBACK, CALL(on_unescape), NULL},
        {daemon->is_tls ? MHD_OPTION_ARRAY : MHD_OPTION_END, 0, (void *)(uintptr_t)tls},
        {MHD_OPTION_END, 0, NULL},
    };
    MHD_set_panic_func(panic, NULL);
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET |
            MHD_USE_ERROR_LOG | (daemon->is_tls ? MHD_USE_TLS : 0),
        0, NULL, NULL, on_request, daemon, MHD_OPTION_ARRAY, all, MHD_OPTION_END);
}

/* Ends a daemon, as far as it has begun. */
static void end(struct http_daemon *daemon)
{
    if (daemon->mhd)
        MHD_stop_daemon(daemon->mhd);
    http_pulse_close(daemon);
    recall_free(daemon->recall);
    if (daemon->lane)
        daemon->http->server->backend->close(daemon->lane);
    pthread_mutex_destroy(&daemon->peers_lock);
}

enum error_code http_daemon_start(struct http_daemon *daemon, struct http *http,
                                  struct error *error)
{
    daemon->http = http;
    daemon->pulse = -1;
    pthread_mutex_init(&daemon->peers_lock, NULL);
    request_ids_init(&daemon->ids);
    daemon->lane = http->server->backend->open(0, 0, error);
    if (daemon->lane) {
        daemon->recall = recall_new();
        daemon->mhd = start(daemon);
        if (daemon->mhd && http_pulse_open(daemon))
            return ERROR_NONE;
        error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "cannot start an HTTP thread");
    }
    end(daemon);
    return error->code;
}

void http_daemon_stop(struct http_daemon *daemon)
{
    end(daemon);
}
