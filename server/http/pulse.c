#include "server/http/parts.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* libmicrohttpd (0.9 and 1.0) takes 128 events at a time from its epoll, and when it got so many it
 * asks for more before it handles any: when there were exactly 128, it sleeps on them until
 * something else happens. Up to two of the events may be its own and ours. */
enum { CONNECTIONS_THAT_STALL = 126 };

bool http_pulse_open(struct http_daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon->mhd, MHD_DAEMON_INFO_EPOLL_FD);
    /* An event without a connection wakes libmicrohttpd, which passes over it. */
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = NULL};
    daemon->pulse = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (daemon->pulse < 0)
        return false;
    return info && epoll_ctl(info->epoll_fd, EPOLL_CTL_ADD, daemon->pulse, &event) == 0;
}

void http_pulse_close(struct http_daemon *daemon)
{
    if (daemon->pulse >= 0)
        close(daemon->pulse);
    daemon->pulse = -1;
}

bool http_pulse(struct http *http)
{
    const uint64_t one = 1;
    bool is_needed = false;
    for (int i = 0; i < http->daemon_count; i++) {
        struct http_daemon *daemon = &http->daemons[i];
        if (atomic_load(&daemon->connections) < CONNECTIONS_THAT_STALL)
            continue;
        is_needed = true;
        if (write(daemon->pulse, &one, sizeof one) < 0)
            abort(); /* nobody reads it, and it counts to 2^64 */
    }
    return is_needed;
}
