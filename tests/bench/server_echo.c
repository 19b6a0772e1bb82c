#include "tests/bench/server_echo.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2, RECV_BYTES = 256 * 1024, HEAD_MAX = 65536 };

struct collected {
    size_t size;
    char bytes[8192];
};

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **state)
{
    struct collected *c = *state;
    struct MHD_Response *response;
    enum MHD_Result result;

    (void)context, (void)url, (void)method, (void)version;
    if (c == NULL) {
        *state = c = malloc(sizeof(*c));
        if (c != NULL)
            c->size = 0;
        return c != NULL ? MHD_YES : MHD_NO;
    }
    if (*size > 0) {
        if (*size > sizeof(c->bytes) - c->size)
            return MHD_NO;
        memcpy(c->bytes + c->size, data, *size);
        c->size += *size;
        *size = 0;
        return MHD_YES;
    }
    *state = NULL;
    response = MHD_create_response_from_buffer_with_free_callback_cls(c->size, c->bytes, free, c);
    MHD_add_response_header(response, "Content-Type", "application/json");
    result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

static void serve_http(int listener)
{
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, NULL, MHD_OPTION_LISTEN_SOCKET,
        listener, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS, MHD_OPTION_END);

    if (daemon == NULL)
        _exit(1);
    for (;;)
        pause();
}

struct recycled {
    char *bytes;
    size_t capacity;
};

/* Reads until the head is whole; what came of the body stands behind it. */
static bool read_head(int fd, const struct recycled *buffer, size_t *size, size_t *head)
{
    char *end = NULL;

    *size = 0;
    while (end == NULL) {
        ssize_t got = recv(fd, buffer->bytes + *size, HEAD_MAX - *size, 0);

        if (got <= 0)
            return false;
        *size += (size_t)got;
        end = memmem(buffer->bytes, *size, "\r\n\r\n", 4);
    }
    *head = (size_t)(end - buffer->bytes) + 4;
    return true;
}

static bool send_all(int fd, const char *bytes, size_t size, int flags)
{
    while (size > 0) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL | flags);

        if (sent <= 0)
            return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* With the line's end in front: Inference-Header-Content-Length is another header. */
#define LENGTH "\r\nContent-Length:"

static bool echo_once(int fd, const struct recycled *buffer)
{
    size_t size, head, body;
    char text[128];
    const char *length;

    if (!read_head(fd, buffer, &size, &head))
        return false;
    length = strcasestr(buffer->bytes, LENGTH);
    body = length != NULL ? strtoull(length + sizeof(LENGTH) - 1, NULL, 10) : 0;
    if (body > buffer->capacity - head)
        return false;
    while (size < head + body) {
        size_t left = head + body - size;
        ssize_t got = recv(fd, buffer->bytes + size, left < RECV_BYTES ? left : RECV_BYTES, 0);

        if (got <= 0)
            return false;
        size += (size_t)got;
    }
    snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", body);
    return send_all(fd, text, strlen(text), MSG_MORE) &&
           send_all(fd, buffer->bytes + head, body, 0);
}

static void serve_raw(int listener, size_t capacity)
{
    const struct recycled buffer = {.bytes = malloc(capacity + HEAD_MAX),
                                    .capacity = capacity + HEAD_MAX};
    const int on = 1;

    if (buffer.bytes == NULL)
        _exit(1);
    memset(buffer.bytes, 1, buffer.capacity);
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            _exit(1);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        while (echo_once(fd, &buffer))
            ;
        close(fd);
    }
}

static int listen_anywhere(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 128) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return -1;
    *port = ntohs(address.sin_port);
    return fd;
}

/* capacity 0: by libmicrohttpd. */
static bool start(struct echo *echo, size_t capacity)
{
    int listener = listen_anywhere(&echo->port);

    if (listener < 0)
        return false;
    fflush(NULL);
    echo->pid = fork();
    if (echo->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (capacity == 0)
            serve_http(listener);
        else
            serve_raw(listener, capacity);
    }
    close(listener);
    return echo->pid > 0;
}

bool echo_start_http(struct echo *echo)
{
    return start(echo, 0);
}

bool echo_start_raw(struct echo *echo, size_t capacity)
{
    return start(echo, capacity);
}

void echo_stop(struct echo *echo)
{
    kill(echo->pid, SIGKILL);
    waitpid(echo->pid, NULL, 0);
}
