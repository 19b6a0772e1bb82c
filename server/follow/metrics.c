#include "server/follow/metrics.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_MAX = 8192, IDLE_SECONDS = 10, CONNECTIONS = 32 };

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *page,
                              size_t size)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)page, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", "text/plain; version=0.0.4");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *body, size_t *body_size, void **state)
{
    const struct counters *counters = context;
    char page[PAGE_MAX];
    struct text text;
    (void)version, (void)body, (void)state;
    if (*body_size > 0 || (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0))
        return MHD_NO;
    text_init(&text, page, sizeof page);
    if (strcmp(path, "/metrics") == 0) {
        counters_print(counters, &text);
        return answer(connection, MHD_HTTP_OK, page, text.size);
    }
    if (strcmp(path, "/health") != 0)
        return answer(connection, MHD_HTTP_NOT_FOUND, "/metrics, /health\n", 18);
    bool is_healthy = counters_healthy(counters);
    text_printf(&text, "server %s, redis %s\n", counters->server_up ? "up" : "down",
                counters->redis_up ? "up" : "down");
    return answer(connection, is_healthy ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, page,
                  text.size);
}

/* "127.0.0.1:9465", "[::1]:9465", "9465" (on 127.0.0.1). */
static struct addrinfo *resolve(const char *listen)
{
    char host[80];
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    const char *colon = strrchr(listen, ':');
    snprintf(host, sizeof host, "%.*s", colon ? (int)(colon - listen) : 9,
             colon ? listen : "127.0.0.1");
    size_t size = strlen(host);
    char *name = host;
    if (size > 2 && host[0] == '[' && host[size - 1] == ']') {
        host[size - 1] = '\0';
        name++;
    }
    return getaddrinfo(name, colon ? colon + 1 : listen, &hints, &found) == 0 ? found : NULL;
}

static void print_address(struct metrics_listener *listener, const char *listen)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_BIND_PORT);
    const char *colon = strrchr(listen, ':');
    snprintf(listener->address, sizeof listener->address, "%.*s:%u",
             colon ? (int)(colon - listen) : 9, colon ? listen : "127.0.0.1",
             info ? (unsigned)info->port : 0);
}

enum error_code metrics_start(struct metrics_listener *listener, const char *listen,
                              const struct counters *counters, struct error *error)
{
    *listener = (struct metrics_listener){.daemon = NULL};
    if (!*listen)
        return ERROR_NONE;
    struct addrinfo *address = resolve(listen);
    if (!address)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "metrics_listen = %.100s: expected is a numeric address and a port",
                         listen);
    listener->daemon = MHD_start_daemon(
        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD |
            (address->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0),
        0, NULL, NULL, on_request, (void *)(uintptr_t)counters, MHD_OPTION_SOCK_ADDR,
        address->ai_addr, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_END);
    freeaddrinfo(address);
    if (!listener->daemon)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL, "cannot listen on %.100s: %s",
                         listen, strerror(errno));
    print_address(listener, listen);
    return ERROR_NONE;
}

void metrics_stop(struct metrics_listener *listener)
{
    if (listener->daemon)
        MHD_stop_daemon(listener->daemon);
}
