#include "tests/bench/server_line.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int line_socket(int port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

bool line_send(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

bool line_is_refusal(const char *answer)
{
    return memcmp(answer + 9, "503", 3) == 0;
}

ssize_t line_answer_size(const char *bytes, size_t size, bool may_refuse)
{
    const char *end = memmem(bytes, size, "\r\n\r\n", 4), *length;

    if (end == NULL)
        return 0;
    length = strcasestr(bytes, "\r\nContent-Length:");
    if (size < 12 || length == NULL || length > end ||
        (memcmp(bytes + 9, "200", 3) != 0 && !(may_refuse && line_is_refusal(bytes)))) {
        fprintf(stderr, "not a 200: %.*s\n", size < 500 ? (int)size : 500, bytes);
        return -1;
    }
    return end + 4 - bytes + strtol(length + strlen("\r\nContent-Length:"), NULL, 10);
}

bool line_open(struct line *line, int port, size_t capacity)
{
    *line = (struct line){.fd = line_socket(port), .capacity = capacity};
    line->answer = malloc(capacity);
    if (line->answer != NULL)
        memset(line->answer, 1, capacity);
    return line->fd >= 0 && line->answer != NULL;
}

void line_close(struct line *line)
{
    close(line->fd);
    free(line->answer);
}

double line_exchange(struct line *line, const char *request, size_t size)
{
    int64_t start = now_ns();
    ssize_t wanted = 0;
    size_t got = 0;

    if (!line_send(line->fd, request, size))
        return -1;
    while (wanted == 0 || got < (size_t)wanted) {
        ssize_t piece = recv(line->fd, line->answer + got, line->capacity - got, 0);

        if (piece <= 0)
            return -1;
        got += (size_t)piece;
        if (wanted == 0)
            wanted = line_answer_size(line->answer, got, false);
        if (wanted < 0 || (size_t)wanted > line->capacity)
            return -1;
    }
    line->answer_size = got;
    return (double)(now_ns() - start) / 1e9;
}
