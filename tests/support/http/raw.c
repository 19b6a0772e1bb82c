#include "tests/support/http/raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 60 };

static bool connect_to(struct raw *r, const void *address, socklen_t size)
{
    const struct sockaddr *to = address;
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};

    *r = (struct raw){.fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (r->fd < 0)
        return false;
    setsockopt(r->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(r->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(r->fd, to, size) == 0)
        return true;
    raw_close(r);
    return false;
}

bool raw_open(struct raw *r, int port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int on = 1;

    if (!connect_to(r, &address, sizeof(address)))
        return false;
    setsockopt(r->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return true;
}

bool raw_open_unix(struct raw *r, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    return connect_to(r, &address, sizeof(address));
}

void raw_close(struct raw *r)
{
    if (r->fd >= 0)
        close(r->fd);
    free(r->buffer);
    *r = (struct raw){.fd = -1};
}

void raw_reset(struct raw *r)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    setsockopt(r->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    raw_close(r);
}

bool raw_send(struct raw *r, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size > 0) {
        ssize_t sent = send(r->fd, at, size, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

bool raw_puts(struct raw *r, const char *text)
{
    return raw_send(r, text, strlen(text));
}

bool raw_printf(struct raw *r, const char *format, ...)
{
    char *text;
    va_list arguments;
    int size;
    bool sent;

    va_start(arguments, format);
    size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0)
        return false;
    sent = raw_send(r, text, (size_t)size);
    free(text);
    return sent;
}

void raw_finish(struct raw *r)
{
    shutdown(r->fd, SHUT_WR);
}

/* Reads once more into the buffer, which stays NUL-terminated. False at the end, or at an error. */
static bool fill(struct raw *r)
{
    ssize_t got;

    if (r->capacity - r->size < 2) {
        size_t capacity = r->capacity * 2 + 65536;
        char *buffer = realloc(r->buffer, capacity);

        if (buffer == NULL)
            return false;
        r->buffer = buffer;
        r->capacity = capacity;
    }
    got = recv(r->fd, r->buffer + r->size, r->capacity - r->size - 1, 0);
    r->ended = got == 0 || (got < 0 && errno != EAGAIN);
    if (got <= 0)
        return false;
    r->size += (size_t)got;
    r->buffer[r->size] = '\0';
    return true;
}

/* Takes the first `size` bytes off the buffer, as a string. */
static char *take(struct raw *r, size_t size)
{
    char *taken = malloc(size + 1);

    if (taken == NULL)
        return NULL;
    memcpy(taken, r->buffer, size);
    taken[size] = '\0';
    r->size -= size;
    memmove(r->buffer, r->buffer + size, r->size + 1);
    return taken;
}

static bool read_head(struct raw *r, struct answer *a)
{
    char *end;

    while (r->size == 0 || (end = strstr(r->buffer, "\r\n\r\n")) == NULL)
        if (!fill(r))
            return false;
    return answer_parse_head(a, take(r, (size_t)(end - r->buffer) + 4));
}

bool raw_read(struct raw *r, struct answer *a, bool bodyless)
{
    const char *length;

    *a = (struct answer){0};
    if (!read_head(r, a))
        return false;
    length = answer_header(a, "Content-Length");
    if (bodyless || a->status < 200 || a->status == 204 || a->status == 304) {
        a->size = 0;
    } else if (length != NULL) {
        a->size = strtoull(length, NULL, 10);
        while (r->size < a->size)
            if (!fill(r))
                return false;
    } else {
        while (fill(r))
            ;
        a->size = r->size;
    }
    a->body = take(r, a->size);
    return a->body != NULL;
}

bool raw_ended(struct raw *r)
{
    while (r->size == 0 && fill(r))
        ;
    return r->size == 0 && r->ended;
}
