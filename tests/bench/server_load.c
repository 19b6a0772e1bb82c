#include "tests/bench/server_load.h"
#include "tests/bench/server_tls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MAX = 65536, EVENTS = 64, LATENCIES_MAX = 1 << 20 };

static const int64_t patience_ns = 10000000000;

struct connection {
    int fd;
    struct tls_side *tls;    /* NULL: plain */
    struct connection *next; /* of those that are free */
    int64_t due_ns;
    size_t size;
    char answer[ANSWER_MAX];
};

struct latencies {
    int64_t count, refused;
    float ms[LATENCIES_MAX];
    float at_ms[LATENCIES_MAX]; /* since the start: when it was answered */
};

struct talk {
    const struct load *load;
    struct latencies *latencies;
    struct connection *free;
    int64_t start_ns, end_ns, asked_ns; /* asked_ns: the last time */
    int64_t asked, answered;
};

static bool send_request(const struct wire_request *r, struct connection *c)
{
    c->size = 0;
    return c->tls != NULL ? tls_side_send(c->tls, r->bytes, r->size)
                          : line_send(c->fd, r->bytes, r->size);
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
    wanted = line_answer_size(c->answer, c->size, load->may_refuse);
    if (wanted < 0 || (size_t)wanted >= ANSWER_MAX)
        return -1;
    return wanted > 0 && (size_t)wanted == c->size;
}

static void note(struct talk *t, const struct connection *c)
{
    struct latencies *l = t->latencies;
    int64_t now = now_ns();

    if (line_is_refusal(c->answer)) {
        l->refused++;
        return;
    }
    if (l->count < LATENCIES_MAX) {
        l->ms[l->count] = (float)((double)(now - c->due_ns) / 1e6);
        l->at_ms[l->count] = (float)((double)(now - t->start_ns) / 1e6);
    }
    l->count++;
}

/* When the next request is to be sent. */
static int64_t next_due(const struct talk *t)
{
    double rate = t->load->rate;

    return rate == 0 ? now_ns() : t->start_ns + (int64_t)((double)t->asked * 1e9 / rate);
}

static bool ask(struct talk *t, struct connection *c, int64_t due_ns)
{
    c->due_ns = due_ns;
    t->asked_ns = now_ns();
    return send_request(&t->load->requests[t->asked++ % t->load->request_count], c);
}

static bool talk_to_one(struct talk *t, struct connection *c)
{
    int heard = 0;

    while (now_ns() < t->end_ns) {
        if (!ask(t, c, now_ns()))
            return false;
        while ((heard = hear(t->load, c)) == 0)
            ;
        if (heard < 0)
            return false;
        note(t, c);
    }
    return true;
}

static bool ask_what_is_due(struct talk *t)
{
    bool works = true;

    while (works && t->free != NULL) {
        struct connection *c = t->free;
        int64_t due = next_due(t);

        if (due > now_ns() || due >= t->end_ns)
            break;
        t->free = c->next;
        works = ask(t, c, due);
    }
    return works;
}

/* Until the next request is due, when there is a connection for it. */
static int64_t pause_ns(const struct talk *t)
{
    int64_t due = next_due(t), now = now_ns();

    if (t->free == NULL || due >= t->end_ns)
        return patience_ns;
    return due > now ? due - now : 0;
}

static bool hear_one(struct talk *t, struct connection *c)
{
    int heard = hear(t->load, c);

    if (heard <= 0)
        return heard == 0;
    note(t, c);
    t->answered++;
    c->next = t->free;
    t->free = c;
    return ask_what_is_due(t);
}

static bool hear_some(struct talk *t, int epoll)
{
    struct epoll_event events[EVENTS];
    int64_t pause = pause_ns(t);
    const struct timespec timeout = {pause / 1000000000, pause % 1000000000};
    int count = epoll_pwait2(epoll, events, EVENTS, &timeout, NULL);
    bool works = count > 0 || (count == 0 && pause < patience_ns);

    for (int i = 0; works && i < count; i++)
        works = hear_one(t, events[i].data.ptr);
    return works;
}

static bool is_over(const struct talk *t)
{
    return t->load->rate == 0 ? now_ns() >= t->end_ns
                              : next_due(t) >= t->end_ns && t->answered == t->asked;
}

static bool talk_to_many(struct talk *t, struct connection *all)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    bool works = epoll >= 0;

    for (int i = 0; works && i < t->load->connections; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};

        works = epoll_ctl(epoll, EPOLL_CTL_ADD, all[i].fd, &event) == 0;
        all[i].next = t->free;
        t->free = &all[i];
    }
    while (works && !is_over(t))
        works = ask_what_is_due(t) && hear_some(t, epoll);
    close(epoll);
    return works;
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static double percentile_99(float *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof(values[0]), compare);
    return values[(count - 1) * 99 / 100];
}

/* Writes over the latencies, which are not needed any more. */
static double span_99(struct latencies *l, size_t count, size_t span)
{
    if (span == 0 || count <= span)
        return 0;
    for (size_t i = span; i < count; i++)
        l->ms[i - span] = l->at_ms[i] - l->at_ms[i - span];
    return percentile_99(l->ms, count - span);
}

static bool open_all(const struct load *load, struct connection *all)
{
    bool works = true;

    for (int i = 0; works && i < load->connections; i++) {
        all[i].fd = line_socket(load->port);
        works = all[i].fd >= 0;
        if (works && load->tls)
            works = (all[i].tls = tls_side_open(all[i].fd)) != NULL;
    }
    return works;
}

static void tell(const struct talk *t, struct load_result *result)
{
    struct latencies *l = t->latencies;
    size_t count = l->count < LATENCIES_MAX ? (size_t)l->count : LATENCIES_MAX;

    *result = (struct load_result){.answers = l->count,
                                   .refused = l->refused,
                                   .seconds = (double)(now_ns() - t->start_ns) / 1e9,
                                   .asked = (double)(t->asked - 1) * 1e9 /
                                            (double)(t->asked_ns - t->start_ns),
                                   .p99_ms = percentile_99(l->ms, count)};
    result->span_ms = span_99(l, count, (size_t)t->load->span);
}

bool load_run(const struct load *load, double seconds, struct load_result *result)
{
    struct connection *all = calloc((size_t)load->connections, sizeof(*all));
    struct talk t = {.load = load, .latencies = calloc(1, sizeof(*t.latencies))};
    bool works = all != NULL && t.latencies != NULL && open_all(load, all);

    if (works) {
        t.start_ns = now_ns();
        t.end_ns = t.start_ns + (int64_t)(seconds * 1e9);
        works = load->connections == 1 ? talk_to_one(&t, all) : talk_to_many(&t, all);
        tell(&t, result);
    }
    for (int i = 0; all != NULL && i < load->connections; i++) {
        tls_side_close(all[i].tls);
        close(all[i].fd);
    }
    free(all);
    free(t.latencies);
    return works;
}
