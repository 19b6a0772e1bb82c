#include "server/http/parts.h"

#include "proto/request/recall.h"

#include <limits.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    POOL_BYTES = 32 * 1024 /* of a connection: headers, and one piece of a body at a time */
};

/* Below its limit libmicrohttpd 0.9 never checks it; at its limit it deadlocks. The acceptor's own
 * limit comes first. */
static const unsigned connections_never_reached = INT_MAX / 2;

#if MHD_VERSION >= 0x01000000
#define STRICTNESS MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1
#else
#define STRICTNESS MHD_OPTION_STRICT_FOR_CLIENT, -1 /* strict: its test is inverted */
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

static void on_completed(void *daemon, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode how)
{
    (void)daemon;
    (void)connection;
    if (*context)
        http_completed(*context, how == MHD_REQUEST_TERMINATED_COMPLETED_OK);
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

/* A NUL would end the URL before its end: as another control character it is refused. */
static size_t on_unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    if (!strchr(text, '%'))
        return strlen(text);
    for (char *p = text; (p = strstr(p, "%00")); p += 3)
        p[2] = '1';
    size_t size = MHD_http_unescape(text);
    struct peer *peer = http_peer_of(connection);
    if (peer && *text == '/')
        peer->path_is_escaped = true;
    else if (peer && tensor_name_is_legal(text, size))
        peer->query_is_escaped = true;
    return size;
}

static const struct MHD_OptionItem no_options[] = {{MHD_OPTION_END, 0, NULL}};

enum error_code http_daemon_start(struct http_daemon *daemon, struct http *http,
                                  struct error *error)
{
    const struct server *server = http->server;
    const struct MHD_OptionItem tls_options[] = {
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)tls_priorities},
        {MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)(uintptr_t)tls_no_certificate},
        {MHD_OPTION_END, 0, NULL},
    };
    daemon->http = http;
    pthread_mutex_init(&daemon->peers_lock, NULL);
    request_ids_init(&daemon->ids);
    daemon->lane = server->backend->open(0, 0, error);
    if (!daemon->lane)
        return error->code;
    daemon->recall = recall_new();
    MHD_set_panic_func(panic, NULL);
    daemon->mhd = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET |
            (daemon->is_tls ? MHD_USE_TLS : 0),
        0, NULL, NULL, on_request, daemon, STRICTNESS, MHD_OPTION_CONNECTION_LIMIT,
        connections_never_reached, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)POOL_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)(server->config.idle_timeout / SEC), MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        daemon, MHD_OPTION_NOTIFY_COMPLETED, on_completed, daemon, MHD_OPTION_UNESCAPE_CALLBACK,
        on_unescape, NULL, MHD_OPTION_ARRAY, daemon->is_tls ? tls_options : no_options,
        MHD_OPTION_END);
    if (daemon->mhd && http_pulse_open(daemon))
        return ERROR_NONE;
    if (daemon->mhd)
        MHD_stop_daemon(daemon->mhd);
    server->backend->close(daemon->lane);
    recall_free(daemon->recall);
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "cannot start an HTTP thread");
}

void http_daemon_stop(struct http_daemon *daemon)
{
    MHD_stop_daemon(daemon->mhd);
    http_pulse_close(daemon);
    pthread_mutex_destroy(&daemon->peers_lock);
    daemon->http->server->backend->close(daemon->lane);
    recall_free(daemon->recall);
}
