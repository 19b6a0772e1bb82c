#include "tests/bench/server_load.h"
#include "tests/bench/server_tls.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MAX = 65536, EVENTS = 64, LATENCIES_MAX = 1 << 20, PATIENCE_MS = 10000 };

struct connection {
    int fd;
    struct tls_side *tls; /* NULL: plain */
    int64_t sent_ns;
    size_t size;
    char answer[ANSWER_MAX];
};

struct latencies {
    int64_t count, refused;
    float ms[LATENCIES_MAX];
};

int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int open_socket(int port)
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

static bool send_all(int fd, const char *bytes, size_t size)
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

static bool is_refusal(const char *answer)
{
    return memcmp(answer + 9, "503", 3) == 0;
}

/* The size of the answer that starts with these bytes: 0 while its head is not whole, -1 when it is
 * not a 200, or a 503 that may be, with a length. */
static ssize_t answer_size(const char *bytes, size_t size, bool may_refuse)
{
    const char *end = memmem(bytes, size, "\r\n\r\n", 4), *length;

    if (end == NULL)
        return 0;
    length = strcasestr(bytes, "\r\nContent-Length:");
    if (size < 12 || length == NULL || length > end ||
        (memcmp(bytes + 9, "200", 3) != 0 && !(may_refuse && is_refusal(bytes)))) {
        fprintf(stderr, "not a 200: %.*s\n", size < 500 ? (int)size : 500, bytes);
        return -1;
    }
    return end + 4 - bytes + strtol(length + strlen("\r\nContent-Length:"), NULL, 10);
}

static bool ask(const struct load *load, struct connection *c)
{
    c->size = 0;
    c->sent_ns = now_ns();
    return c->tls != NULL ? tls_side_send(c->tls, load->request, load->size)
                          : send_all(c->fd, load->request, load->size);
}

/* Reads what there is. 1: the answer is whole, 0: not yet, -1: broken. */
static int hear(const struct load *load, struct connection *c)
{
    char *to = c->answer + c->size;
    size_t room = ANSWER_MAX - c->size - 1;
    ssize_t got = c->tls != NULL ? tls_side_recv(c->tls, to, room) : recv(c->fd, to, room, 0);
    ssize_t wanted;

    if (got <= 0)
        return -1;
    c->size += (size_t)got;
    c->answer[c->size] = '\0';
    wanted = answer_size(c->answer, c->size, load->may_refuse);
    if (wanted < 0 || (size_t)wanted >= ANSWER_MAX)
        return -1;
    return wanted > 0 && (size_t)wanted == c->size;
}

static void note(struct latencies *l, const struct connection *c)
{
    if (is_refusal(c->answer)) {
        l->refused++;
        return;
    }
    if (l->count < LATENCIES_MAX)
        l->ms[l->count] = (float)((double)(now_ns() - c->sent_ns) / 1e6);
    l->count++;
}

static bool talk_to_one(const struct load *load, struct connection *c, int64_t end,
                        struct latencies *l)
{
    int heard = 0;

    while (now_ns() < end) {
        if (!ask(load, c))
            return false;
        while ((heard = hear(load, c)) == 0)
            ;
        if (heard < 0)
            return false;
        note(l, c);
    }
    return true;
}

/* Connections whose answer is not there at the end are closed with it: it counts for nothing. */
static bool talk_to_many(const struct load *load, struct connection *all, int64_t end,
                         struct latencies *l)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event events[EVENTS];
    bool works = epoll >= 0;

    for (int i = 0; works && i < load->connections; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};

        works = epoll_ctl(epoll, EPOLL_CTL_ADD, all[i].fd, &event) == 0 && ask(load, &all[i]);
    }
    while (works && now_ns() < end) {
        int count = epoll_wait(epoll, events, EVENTS, PATIENCE_MS);

        works = count > 0;
        for (int i = 0; works && i < count; i++) {
            struct connection *c = events[i].data.ptr;
            int heard = hear(load, c);

            if (heard > 0)
                note(l, c);
            works = heard == 0 || (heard > 0 && ask(load, c));
        }
    }
    close(epoll);
    return works;
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static double percentile_99(struct latencies *l)
{
    size_t count = l->count < LATENCIES_MAX ? (size_t)l->count : LATENCIES_MAX;

    if (count == 0)
        return 0;
    qsort(l->ms, count, sizeof(l->ms[0]), compare);
    return l->ms[(count - 1) * 99 / 100];
}

bool load_run(const struct load *load, double seconds, struct load_result *result)
{
    struct connection *all = calloc((size_t)load->connections, sizeof(*all));
    struct latencies *l = calloc(1, sizeof(*l));
    int64_t start;
    bool works = all != NULL && l != NULL;

    for (int i = 0; works && i < load->connections; i++) {
        all[i].fd = open_socket(load->port);
        works = all[i].fd >= 0;
        if (works && load->tls)
            works = (all[i].tls = tls_side_open(all[i].fd)) != NULL;
    }
    start = now_ns();
    if (works) {
        int64_t end = start + (int64_t)(seconds * 1e9);

        works = load->connections == 1 ? talk_to_one(load, all, end, l)
                                       : talk_to_many(load, all, end, l);
        result->seconds = (double)(now_ns() - start) / 1e9;
        result->answers = l->count;
        result->refused = l->refused;
        result->p99_ms = percentile_99(l);
    }
    for (int i = 0; all != NULL && i < load->connections; i++) {
        tls_side_close(all[i].tls);
        close(all[i].fd);
    }
    free(all);
    free(l);
    return works;
}

bool line_open(struct line *line, int port, size_t capacity)
{
    *line = (struct line){.fd = open_socket(port), .capacity = capacity};
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

    if (!send_all(line->fd, request, size))
        return -1;
    while (wanted == 0 || got < (size_t)wanted) {
        ssize_t piece = recv(line->fd, line->answer + got, line->capacity - got, 0);

        if (piece <= 0)
            return -1;
        got += (size_t)piece;
        if (wanted == 0)
            wanted = answer_size(line->answer, got, false);
        if (wanted < 0 || (size_t)wanted > line->capacity)
            return -1;
    }
    line->answer_size = got;
    return (double)(now_ns() - start) / 1e9;
}
