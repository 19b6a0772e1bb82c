#include "server/net/linger.h"

#include "server/base/clock.h"
#include "server/base/units.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE_BYTES = 65536, PIECES_A_TURN = 16 };

#define LONGEST_NS (5 * SEC)
#define MOST_BYTES (GIB)

static void finish(struct lingerers *all, int i)
{
    close(all->list[i].fd);
    all->list[i] = all->list[--all->count];
}

/* Reads and throws away; false when the client is done or out of bounds. */
static bool discard(struct lingering *one, char *buffer)
{
    for (int i = 0; i < PIECES_A_TURN; i++) {
        ssize_t n = recv(one->fd, buffer, PIECE_BYTES, MSG_DONTWAIT);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        if (n == 0 || (uint64_t)n >= one->left_bytes)
            return false;
        one->left_bytes -= (uint64_t)n;
    }
    return true;
}

static int list(struct lingerers *all, struct pollfd *polls)
{
    pthread_mutex_lock(&all->lock);
    int count = all->stopping ? -1 : all->count;
    for (int i = 0; i < count; i++)
        polls[i + 1] = (struct pollfd){.fd = all->list[i].fd, .events = POLLIN};
    pthread_mutex_unlock(&all->lock);
    polls[0] = (struct pollfd){.fd = all->wake, .events = POLLIN};
    return count;
}

/* The list is served backwards, because finish moves its last connection into the place of the
 * finished one. linger_take may have added connections since the poll; reading from those does not
 * block. */
static void serve_polled(struct lingerers *all, const struct pollfd *polls, int count, char *buffer)
{
    uint64_t now = clock_ns();
    pthread_mutex_lock(&all->lock);
    for (int i = count - 1; i >= 0; i--) {
        struct lingering *one = &all->list[i];
        bool readable = polls[i + 1].revents != 0;
        if (now >= one->until_ns || (readable && !discard(one, buffer)))
            finish(all, i);
    }
    pthread_mutex_unlock(&all->lock);
}

static void *linger_loop(void *context)
{
    struct lingerers *all = context;
    struct pollfd polls[LINGER_MAX + 1];
    char buffer[PIECE_BYTES];
    for (int count; (count = list(all, polls)) >= 0;) {
        poll(polls, (nfds_t)count + 1, count > 0 ? 250 : -1);
        uint64_t wakes;
        if (polls[0].revents && read(all->wake, &wakes, sizeof wakes) < 0)
            continue;
        serve_polled(all, polls, count, buffer);
    }
    return NULL;
}

enum error_code linger_init(struct lingerers *all, struct error *error)
{
    *all = (struct lingerers){.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    pthread_mutex_init(&all->lock, NULL);
    if (all->wake >= 0 && pthread_create(&all->thread, NULL, linger_loop, all) == 0)
        return ERROR_NONE;
    if (all->wake >= 0)
        close(all->wake);
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "cannot start the lingering thread");
}

static void wake(struct lingerers *all)
{
    uint64_t one = 1;
    if (write(all->wake, &one, sizeof one) < 0)
        return; /* fails only when the counter is full, which wakes the thread too */
}

void linger_release(struct lingerers *all)
{
    pthread_mutex_lock(&all->lock);
    all->stopping = true;
    pthread_mutex_unlock(&all->lock);
    wake(all);
    pthread_join(all->thread, NULL);
    while (all->count > 0)
        finish(all, all->count - 1);
    close(all->wake);
    pthread_mutex_destroy(&all->lock);
}

static int oldest_lingering(const struct lingerers *all)
{
    int found = 0;
    for (int i = 1; i < all->count; i++)
        if (all->list[i].until_ns < all->list[found].until_ns)
            found = i;
    return found;
}

int linger_count(struct lingerers *all)
{
    pthread_mutex_lock(&all->lock);
    int count = all->count;
    pthread_mutex_unlock(&all->lock);
    return count;
}

void linger_take(struct lingerers *all, int fd)
{
    shutdown(fd, SHUT_WR);
    pthread_mutex_lock(&all->lock);
    bool taken = !all->stopping;
    if (taken && all->count == LINGER_MAX)
        finish(all, oldest_lingering(all));
    if (taken)
        all->list[all->count++] = (struct lingering){fd, clock_ns() + LONGEST_NS, MOST_BYTES};
    pthread_mutex_unlock(&all->lock);
    if (taken)
        wake(all);
    else
        close(fd);
}
